package layout_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// newFloats lists files under engine with more floats than allowed: types, literals and
// calls of ParseFloat.
func newFloats(t *tree, allowed map[string]int) []string {
	var found []string
	for _, s := range t.sources {
		if s.isTest() || !matches("engine/...", s.dir()) {
			continue
		}
		count, last := 0, token.NoPos
		ast.Inspect(s.file, func(n ast.Node) bool {
			id, isName := n.(*ast.Ident)
			literal, isLiteral := n.(*ast.BasicLit)
			if isName && (strings.HasPrefix(id.Name, "float") && len(id.Name) == 7 || id.Name == "ParseFloat") || isLiteral && literal.Kind == token.FLOAT {
				count, last = count+1, n.Pos()
			}
			return true
		})
		if count > allowed[s.path] {
			found = append(found, fmt.Sprintf("%s: %d floats in this file, at most %d: use market.Money for money, or raise the number in the table", s.at(last), count, allowed[s.path]))
		}
	}
	return found
}
