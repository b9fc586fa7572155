package httperror

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pingpost/api/errcode"
	"pingpost/internal/must"
)

// Each error in the code of package server uses a constant of api/errors.yaml and its
// status, and each code of that file is used.
func TestErrorsMatchErrorsYAML(t *testing.T) {
	byConstant := map[string]errcode.Error{}
	for _, e := range errcode.Errors {
		byConstant[strings.ReplaceAll(e.Code, "_", "")] = e
	}
	seen, fset := map[string]bool{}, token.NewFileSet()
	names := must.Value(filepath.Glob("../*.go"))(t)
	for _, below := range []string{"../*/*.go", "../*/*/*.go"} {
		names = append(names, must.Value(filepath.Glob(below))(t)...)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := must.Value(parser.ParseFile(fset, name, nil, 0))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CallExpr)
			if !ok || len(literal.Args) < 2 || !isConstructor(literal.Fun) {
				return true
			}
			status, _ := literal.Args[0].(*ast.BasicLit)
			constant, _ := literal.Args[1].(*ast.SelectorExpr)
			if status == nil || constant == nil {
				t.Errorf("%s: the arguments are not a status, a constant of errcode, and a message", fset.Position(literal.Pos()))
				return true
			}
			e := byConstant[strings.ToLower(constant.Sel.Name)]
			if strconv.Itoa(e.Status) != status.Value {
				t.Errorf("%s: %s has the status %d in errors.yaml", fset.Position(literal.Pos()), constant.Sel.Name, e.Status)
			}
			seen[e.Code] = true
			return true
		})
	}
	for _, e := range errcode.Errors {
		if !seen[e.Code] {
			t.Errorf("no code returns the error %s", e.Code)
		}
	}
}

// isConstructor reports whether a call of fun returns a new error.
func isConstructor(fun ast.Expr) bool {
	switch fun := fun.(type) {
	case *ast.Ident:
		return fun.Name == "New"
	case *ast.SelectorExpr:
		pkg, _ := fun.X.(*ast.Ident)
		return pkg != nil && pkg.Name == "httperror" && fun.Sel.Name == "New"
	}
	return false
}
