package pingpost_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"strings"
)

// withoutDetector is what a file begins with that the race detector's build
// leaves out.
const withoutDetector = "//go:build !race\n"

// neverRun lists tests that the race detector's build leaves out and that the pass
// without it, which runs what has a certain word in its name, leaves out too.
func neverRun(t *tree, word string) []string {
	var found []string
	for _, s := range t.sources {
		if !s.isTest() || !bytes.HasPrefix(t.texts[s.path], []byte(withoutDetector)) {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && !strings.Contains(f.Name.Name, word) {
				found = append(found, fmt.Sprintf("%s: %s is in neither pass of `make test`: the second one runs what has %q in its name", s.at(f.Pos()), f.Name.Name, word))
			}
		}
	}
	return found
}
