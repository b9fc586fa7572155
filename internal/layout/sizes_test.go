package layout_test

import (
	"fmt"
	"go/ast"
	"slices"
)

// sizes are limits in lines.
type sizes struct {
	file, function int
}

// measured returns the sources without tests.
func (t *tree) measured() []source {
	return slices.DeleteFunc(slices.Clone(t.sources), source.isTest)
}

func tooLong(files []source, limit sizes) []string {
	var found []string
	for _, s := range files {
		if s.lines > limit.file {
			found = append(found, fmt.Sprintf("%s: %d lines, at most %d", s.path, s.lines, limit.file))
		}
		for _, f := range functions(s) {
			if f.lines > limit.function {
				found = append(found, fmt.Sprintf("%s: %s has %d lines, at most %d", f.at, f.name, f.lines, limit.function))
			}
		}
	}
	return found
}

type function struct {
	at, name string
	lines    int
}

// functions lists declared functions and function literals of package variables. A
// literal inside another function counts as part of that function.
func functions(s source) []function {
	var found []function
	lines := func(n ast.Node) int {
		return s.fset.Position(n.End()).Line - s.fset.Position(n.Pos()).Line + 1
	}
	for _, decl := range s.file.Decls {
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				from := *n
				from.Doc = nil
				found = append(found, function{s.at(n.Name.Pos()), n.Name.Name, lines(&from)})
				return false
			case *ast.FuncLit:
				found = append(found, function{s.at(n.Pos()), "a function literal", lines(n)})
				return false
			}
			return true
		})
	}
	return found
}
