package layout_test

import (
	"fmt"
	"go/ast"
)

// maxFileLines and maxFunctionLines limit the files and functions that are not tests.
const (
	maxFileLines     = 400
	maxFunctionLines = 70
)

// tooLong lists files and functions above the limits. A function literal inside another
// function counts as part of that function.
func tooLong(t *tree) []string {
	var found []string
	for _, s := range t.sources {
		if s.isTest() {
			continue
		}
		if s.lines > maxFileLines {
			found = append(found, fmt.Sprintf("%s: %d lines, at most %d", s.path, s.lines, maxFileLines))
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			name := "a function literal"
			switch n := n.(type) {
			case *ast.FuncDecl:
				name = n.Name.Name
			case *ast.FuncLit:
			default:
				return true
			}
			if lines := s.fset.Position(n.End()).Line - s.fset.Position(n.Pos()).Line + 1; lines > maxFunctionLines {
				found = append(found, fmt.Sprintf("%s: %s has %d lines, at most %d", s.at(n.Pos()), name, lines, maxFunctionLines))
			}
			return false
		})
	}
	return found
}
