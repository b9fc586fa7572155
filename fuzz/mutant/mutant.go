// Package mutant breaks the program on purpose, to prove that a check fails where it should.
//
// A mutation replaces one text in one source file for a single build, through the go command's
// -overlay. The source tree stays unchanged, and the program has no switch that weakens it. A
// mutation whose text is missing or occurs twice is an error. Otherwise the check would run
// against the correct program, and its success would be mistaken for a proof.
package mutant

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// Mutation is one fault in the program's source.
type Mutation struct {
	Name string // description of the fault
	File string // path from the module's root, with slashes
	Old  string // occurs exactly once in the file
	New  string
}

// mutatedText returns the text of a source file with the mutation.
func (m *Mutation) mutatedText(source string) ([]byte, error) {
	whole, err := os.ReadFile(source)
	if err != nil {
		return nil, fmt.Errorf("mutation %q: %w", m.Name, err)
	}
	if n := bytes.Count(whole, []byte(m.Old)); n != 1 || m.Old == m.New {
		return nil, fmt.Errorf("mutation %q: the old text occurs %d times in %s; it must occur once and differ from the new text", m.Name, n, m.File)
	}
	return bytes.Replace(whole, []byte(m.Old), []byte(m.New), 1), nil
}

// WriteOverlay writes the mutated files into overlayDir. It returns the path of the file for `go
// build -overlay` and `go test -overlay`. Several mutations of one file apply in their order. The caller
// removes overlayDir after the build.
func WriteOverlay(moduleRoot, overlayDir string, mutations ...Mutation) (path string, err error) {
	moduleRoot, err = filepath.Abs(moduleRoot)
	if err != nil {
		return "", err
	}
	replace := make(map[string]string, len(mutations))
	for i := range mutations {
		m := &mutations[i]
		original := filepath.Join(moduleRoot, filepath.FromSlash(m.File))
		text, err := m.mutatedText(cmp.Or(replace[original], original))
		if err != nil {
			return "", err
		}
		mutated := filepath.Join(overlayDir, "mutant"+strconv.Itoa(i)+".go")
		if err := os.WriteFile(mutated, text, 0o600); err != nil {
			return "", err
		}
		replace[original] = mutated
	}
	described, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(overlayDir, "overlay.json")
	return path, os.WriteFile(path, described, 0o600)
}

// Build builds package pkg, such as ./cmd/pingpost, with the mutations, into the file binary. It
// passes buildArgs on to `go build`.
func Build(ctx context.Context, moduleRoot, pkg, binary string, buildArgs []string, mutations ...Mutation) error {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // leftovers are in the system's temporary directory
	overlay, err := WriteOverlay(moduleRoot, dir, mutations...)
	if err != nil {
		return err
	}
	binary, err = filepath.Abs(binary)
	if err != nil {
		return err
	}
	all := append([]string{"build", "-overlay", overlay, "-o", binary}, buildArgs...)
	build := exec.CommandContext(ctx, "go", append(all, pkg)...)
	build.Dir = moduleRoot
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the mutant: %w\n%s", err, said)
	}
	return nil
}
