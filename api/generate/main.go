// Command generate makes what is made from api/errors.yaml: the constants in
// api/errcode and the tables in docs/errors.md. It runs in api, by `make api`.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := generate("."); err != nil {
		fmt.Fprintln(os.Stderr, "api/generate:", err)
		os.Exit(1)
	}
}

// The files, from the folder api on.
const (
	source    = "errors.yaml"
	constants = "errcode/codes.go"
	tables    = "../docs/errors.md"
)

// generate writes what rendered says.
func generate(api string) error {
	files, err := rendered(api)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(api, name), text, 0o644); err != nil { //nolint:gosec // these are sources
			return err
		}
	}
	return nil
}

// rendered is what each of the files should be.
func rendered(api string) (map[string][]byte, error) {
	text, err := os.ReadFile(filepath.Join(api, source))
	if err != nil {
		return nil, err
	}
	codes, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	code, err := codes.constants()
	if err != nil {
		return nil, err
	}
	page, err := os.ReadFile(filepath.Join(api, tables))
	if err != nil {
		return nil, err
	}
	if page, err = codes.tables(page); err != nil {
		return nil, fmt.Errorf("%s: %w", tables, err)
	}
	return map[string][]byte{constants: code, tables: page}, nil
}
