// Command image writes a container image as an OCI layout, without a container daemon:
//
//	image -out FOLDER -version VERSION -created SECONDS -certificates FILE ARCHITECTURE=PROGRAM...
//
// The image has the files and the settings of ../Dockerfile. The same inputs give the same
// bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var s imageInput
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	out := flags.String("out", "", "folder of the layout; must not exist")
	flags.StringVar(&s.version, "version", "", "the program's version")
	created := flags.Int64("created", 0, "time of the image and its files, in seconds since 1970")
	certificates := flags.String("certificates", "/etc/ssl/certs/ca-certificates.crt", "file with the certificates of trusted issuers")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *out == "" || s.version == "" || *created == 0 || flags.NArg() == 0 {
		return fmt.Errorf("needs -out, -version, -created and at least one ARCHITECTURE=PROGRAM, got %q", args)
	}
	s.created = time.Unix(*created, 0).UTC()
	var err error
	if s.certificates, err = os.ReadFile(*certificates); err != nil {
		return fmt.Errorf("cannot read the certificates of trusted issuers for the image (-certificates): %w", err)
	}
	for _, arg := range flags.Args() {
		architecture, path, found := strings.Cut(arg, "=")
		if !found {
			return fmt.Errorf("%q is not of the form ARCHITECTURE=PROGRAM", arg)
		}
		program, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("cannot read the program for %s: %w", architecture, err)
		}
		s.programs = append(s.programs, architectureProgram{architecture, program})
	}
	return s.writeLayout(*out)
}
