package layout_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// floatMoney lists floats under a folder that hold money, judged by names: fields,
// variables, parameters, types and results with a money word and a float type,
// conversions of money to a float, and assignments of a float to a money name.
func floatMoney(t *tree, under string, words []string) []string {
	var found []string
	for _, s := range t.sources {
		if s.isTest() || !matches(under+"/...", s.dir()) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if float, money := split(n); float != nil && hasFloat(float) && slices.ContainsFunc(money, func(m ast.Node) bool {
				return namesMoney(m, words)
			}) {
				found = append(found, s.at(n.Pos())+": money in a float: use market.Money")
			}
			return true
		})
	}
	return slices.Compact(found)
}

// split returns the part of a node that may be a float and the parts that may have a money
// name, or nil for other kinds of nodes.
func split(n ast.Node) (float ast.Node, money []ast.Node) {
	switch n := n.(type) {
	case *ast.Field:
		return n.Type, append(nodes(n.Names), n.Type)
	case *ast.ValueSpec:
		if n.Type == nil {
			return block(n.Values), nodes(n.Names)
		}
		return n.Type, append(nodes(n.Names), n.Type)
	case *ast.TypeSpec:
		if _, ok := n.Type.(*ast.StructType); ok {
			return nil, nil
		}
		return n.Type, []ast.Node{n.Name}
	case *ast.FuncDecl:
		if n.Type.Results != nil {
			return n.Type.Results, []ast.Node{n.Name}
		}
	case *ast.CallExpr:
		if fun, ok := n.Fun.(*ast.Ident); ok {
			return fun, nodes(n.Args)
		}
	case *ast.AssignStmt:
		return block(n.Rhs), nodes(n.Lhs)
	}
	return nil, nil
}

func nodes[N ast.Node](list []N) []ast.Node {
	all := make([]ast.Node, 0, len(list))
	for _, n := range list {
		all = append(all, n)
	}
	return all
}

// block joins expressions into one node.
func block(list []ast.Expr) ast.Node { return &ast.CompositeLit{Elts: list} }

func hasFloat(n ast.Node) (yes bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			yes = yes || n.Name == "float64" || n.Name == "float32" || n.Name == "ParseFloat"
		case *ast.BasicLit:
			yes = yes || n.Kind == token.FLOAT
		case *ast.FuncLit:
			return false
		}
		return true
	})
	return yes
}

func namesMoney(n ast.Node, words []string) (yes bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			yes = yes || slices.ContainsFunc(wordsOf(id.Name), func(w string) bool {
				return slices.Contains(words, strings.TrimSuffix(w, "s"))
			})
		}
		return true
	})
	return yes
}

var wordStart = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// wordsOf splits bidAmount into bid and amount, so that forbidden does not count as a bid.
func wordsOf(name string) []string {
	parts := wordStart.FindAllString(name, -1)
	for i, p := range parts {
		parts[i] = strings.ToLower(p)
	}
	return parts
}
