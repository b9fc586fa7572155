// Command generate generates the constants in api/errcode and the tables in docs/errors.md from
// api/errors.yaml. `make api` runs it in the folder api.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := generateFiles("."); err != nil {
		fmt.Fprintln(os.Stderr, "api/generate:", err)
		os.Exit(1)
	}
}

// Paths relative to the folder api.
const (
	source    = "errors.yaml"
	constants = "errcode/codes.go"
	tables    = "../docs/errors.md"
)

// generateFiles writes the generated files.
func generateFiles(api string) error {
	files, err := renderFiles(api)
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

// renderFiles returns the content of each generated file.
func renderFiles(api string) (map[string][]byte, error) {
	text, err := os.ReadFile(filepath.Join(api, source))
	if err != nil {
		return nil, err
	}
	codes, err := parseErrorCodes(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	code, err := codes.renderConstants()
	if err != nil {
		return nil, err
	}
	page, err := os.ReadFile(filepath.Join(api, tables))
	if err != nil {
		return nil, err
	}
	if page, err = codes.renderTables(page); err != nil {
		return nil, fmt.Errorf("%s: %w", tables, err)
	}
	return map[string][]byte{constants: code, tables: page}, nil
}
