package server

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"

	"pingpost/api/errcode"
)

// TestFaultsAreOfErrorsYAML: every fault in this package has a code of api/errors.yaml,
// by its constant, and the status that it has there.
func TestFaultsAreOfErrorsYAML(t *testing.T) {
	named := map[string]errcode.Error{}
	for _, e := range errcode.Errors {
		named[strings.ReplaceAll(e.Code, "_", "")] = e
	}
	seen, fset := map[string]bool{}, token.NewFileSet()
	names, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if kind, _ := literalType(literal, ok); kind != "fault" || len(literal.Elts) == 0 {
				return true
			}
			status, _ := literal.Elts[0].(*ast.BasicLit)
			constant, _ := literal.Elts[1].(*ast.SelectorExpr)
			if status == nil || constant == nil {
				t.Errorf("%s: a fault is a status, a constant of errcode, and words", fset.Position(literal.Pos()))
				return true
			}
			e := named[strings.ToLower(constant.Sel.Name)]
			if strconv.Itoa(e.Status) != status.Value {
				t.Errorf("%s: %s has the status %d in errors.yaml", fset.Position(literal.Pos()), constant.Sel.Name, e.Status)
			}
			seen[e.Code] = true
			return true
		})
	}
	for _, e := range errcode.Errors {
		if !seen[e.Code] {
			t.Errorf("nothing answers with %s", e.Code)
		}
	}
}

func literalType(literal *ast.CompositeLit, ok bool) (name string, is bool) {
	if !ok {
		return "", false
	}
	kind, is := literal.Type.(*ast.Ident)
	if !is {
		return "", false
	}
	return kind.Name, true
}
