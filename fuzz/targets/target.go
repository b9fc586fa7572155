package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// target is one fuzz target, and what its run came to.
type target struct {
	pkg, dir, name string // dir is the package's, name the function's

	executions, interesting, result string
	failed                          bool
	said                            string // the end of what it wrote, where it failed
}

// String is the target as --only knows it: its package, without the module, and
// its name.
func (t *target) String() string {
	_, pkg, _ := strings.Cut(t.pkg, "/")
	return pkg + "." + t.name
}

var declared = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(\w+ \*testing\.F\)`)

// find lists the targets of the module at root by what its test files declare, in
// the order of packages and files.
func find(ctx context.Context, root string, only *regexp.Regexp) (targets []target, err error) {
	list := exec.CommandContext(ctx, "go", "list", "-f",
		`{{$p := .}}{{range .TestGoFiles}}{{$p.ImportPath}} {{$p.Dir}} {{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$p.ImportPath}} {{$p.Dir}} {{.}}{{"\n"}}{{end}}`, "./...")
	list.Dir = root
	files, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("the packages cannot be listed: %w", err)
	}
	for line := range strings.Lines(string(files)) {
		parts := strings.Fields(line)
		if len(parts) != len([...]string{"package", "folder", "file"}) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(parts[1], parts[2]))
		if err != nil {
			return nil, err
		}
		for _, match := range declared.FindAllSubmatch(text, -1) {
			t := target{pkg: parts[0], dir: parts[1], name: string(match[1])}
			if only.MatchString(t.String()) {
				targets = append(targets, t)
			}
		}
	}
	return targets, nil
}

func (o *options) corpus(t *target) string { return filepath.Join(o.Out, "corpus", t.pkg) }

// binary is the package's test binary, made for fuzzing; it is built anew for the
// first of its targets, and the go command knows what has changed.
func (o *options) binary(ctx context.Context, t *target) (string, error) {
	path := filepath.Join(o.Out, strings.ReplaceAll(t.pkg, "/", ".")+".test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-fuzz", ".", "-o", path, t.pkg)
	build.Dir = t.dir
	if said, err := build.CombinedOutput(); err != nil {
		return "", errors.New(string(said))
	}
	return path, nil
}

// fuzz runs one target. A minimisation is bounded by executions: by the library's
// own minute, each interesting input of a slow target would take the whole time.
func (o *options) fuzz(ctx context.Context, t *target) {
	binary, err := o.binary(ctx, t)
	if err != nil {
		t.failed, t.result, t.said = true, "does not build", err.Error()
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*o.Time+grace)
	defer cancel()
	run := exec.CommandContext(ctx, binary,
		"-test.run=^$", "-test.fuzz=^"+t.name+"$", "-test.fuzztime="+o.Time.String(), "-test.fuzzminimizetime=1000x",
		fmt.Sprintf("-test.parallel=%d", o.Parallel), "-test.fuzzcachedir="+o.corpus(t))
	run.Dir = t.dir
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = grace
	said, err := run.CombinedOutput()
	t.read(string(said), err, ctx.Err())
}
