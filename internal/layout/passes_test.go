package layout_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"strings"
)

// withoutDetector is the first line of a file that the build with the race detector
// excludes.
const withoutDetector = "//go:build !race\n"

// testsWithoutPass lists tests that no pass of `make test` runs: the build with the race detector
// excludes them, and their names lack the word by which the other pass selects tests.
func testsWithoutPass(t *tree, word string) []string {
	var found []string
	for _, s := range t.sources {
		if !s.isTest() || !bytes.HasPrefix(t.texts[s.path], []byte(withoutDetector)) {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && !strings.Contains(f.Name.Name, word) {
				found = append(found, fmt.Sprintf("%s: no pass of `make test` runs %s: the second pass selects names with %q", s.at(f.Pos()), f.Name.Name, word))
			}
		}
	}
	return found
}
