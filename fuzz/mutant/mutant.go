// Package mutant breaks the program on purpose, so that a checker can be seen to
// fail.
//
// A mutation is one text in one source file, put in another's place for one
// build alone, by the go command's -overlay: the tree stays as it is and the
// program has no switch that makes it worse. A mutation whose text has gone, or
// stands there twice, is an error: else a checker would be tried against the
// unbroken program, and its silence be taken for a proof.
package mutant

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// Mutation is one fault in the program's text.
type Mutation struct {
	Name string // what is broken, in words
	File string // from the module's root, with slashes
	Old  string // stands in the file exactly once
	New  string
}

// text is the file as the mutation leaves it.
func (m *Mutation) text(root string) ([]byte, error) {
	whole, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.File)))
	if err != nil {
		return nil, fmt.Errorf("mutation %q: %w", m.Name, err)
	}
	if n := bytes.Count(whole, []byte(m.Old)); n != 1 || m.Old == m.New {
		return nil, fmt.Errorf("mutation %q: its text stands %d times in %s; once is wanted, and something else in its place", m.Name, n, m.File)
	}
	return bytes.Replace(whole, []byte(m.Old), []byte(m.New), 1), nil
}

// Overlay writes the mutated files into dir and returns the path of what
// `go build -overlay` and `go test -overlay` take. Each mutation has a file of
// its own. Dir is the caller's to remove, after the build.
func Overlay(root, dir string, mutations ...Mutation) (path string, err error) {
	root, err = filepath.Abs(root)
	if err != nil {
		return "", err
	}
	replace := make(map[string]string, len(mutations))
	for i := range mutations {
		m := &mutations[i]
		text, err := m.text(root)
		if err != nil {
			return "", err
		}
		original := filepath.Join(root, filepath.FromSlash(m.File))
		if _, twice := replace[original]; twice {
			return "", fmt.Errorf("mutation %q: %s is mutated already", m.Name, m.File)
		}
		mutated := filepath.Join(dir, "mutant"+strconv.Itoa(i)+".go")
		if err := os.WriteFile(mutated, text, 0o600); err != nil {
			return "", err
		}
		replace[original] = mutated
	}
	described, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, described, 0o600)
}

// Build builds the program of package pkg, such as ./cmd/pingpost, with the
// mutations in it, to the file out. Further arguments go to `go build`.
func Build(ctx context.Context, root, pkg, out string, args []string, mutations ...Mutation) error {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := Overlay(root, dir, mutations...)
	if err != nil {
		return err
	}
	out, err = filepath.Abs(out)
	if err != nil {
		return err
	}
	all := append([]string{"build", "-overlay", overlay, "-o", out}, args...)
	build := exec.CommandContext(ctx, "go", append(all, pkg)...)
	build.Dir = root
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("the mutant cannot be built: %w\n%s", err, said)
	}
	return nil
}
