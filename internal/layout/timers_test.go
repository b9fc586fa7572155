package layout_test

import (
	"fmt"
	"go/ast"
	"go/token"
)

// dueTimers lists receives from channel timers that may already be due, in packages
// whose tests run in synctest bubbles: uses of time.After, NewTimer, NewTicker and
// Tick. internal/timer says why such a receive crashes under the race detector, and
// has the replacements.
//
// A time.After of a constant duration that is received from on the spot is never due.
// Files in exempt are left out; the table gives each one's reason.
func dueTimers(t *tree, exempt map[string]string) []string {
	bubbles := map[string]bool{}
	for _, s := range t.sources {
		_, uses := localName(s.file, "testing/synctest")
		if s.isTest() && uses {
			bubbles[s.dir()] = true
		}
	}
	var found []string
	for _, s := range t.sources {
		local, imported := localName(s.file, "time")
		if !bubbles[s.dir()] || !imported || exempt[s.path] != "" {
			continue
		}
		safe := constantWaits(s.file, local)
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || safe[call] {
				return true
			}
			switch name := timeMember(call.Fun, local); name {
			case "After", "NewTimer", "NewTicker", "Tick":
				found = append(found, fmt.Sprintf(
					"%s: time.%s: the channel may be due when it is received from, which crashes bubble tests under -race: use internal/timer",
					s.at(call.Pos()), name))
			}
			return true
		})
	}
	return found
}

// constantWaits returns the calls of time.After that have a constant argument and are the
// direct operand of a receive.
func constantWaits(file *ast.File, local string) map[*ast.CallExpr]bool {
	safe := map[*ast.CallExpr]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		receive, ok := n.(*ast.UnaryExpr)
		if !ok || receive.Op != token.ARROW {
			return true
		}
		if call, ok := receive.X.(*ast.CallExpr); ok && timeMember(call.Fun, local) == "After" && isPositiveConstant(call.Args[0], local) {
			safe[call] = true
		}
		return true
	})
	return safe
}

// isPositiveConstant reports whether the expression multiplies number literals other
// than 0 and the units of package time.
func isPositiveConstant(e ast.Expr, local string) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Value != "0"
	case *ast.BinaryExpr:
		return e.Op == token.MUL && isPositiveConstant(e.X, local) && isPositiveConstant(e.Y, local)
	}
	switch timeMember(e, local) {
	case "Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour":
		return true
	}
	return false
}

// timeMember returns the name that follows the package's local name in a selector, or
// "".
func timeMember(e ast.Expr, local string) string {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if x, ok := sel.X.(*ast.Ident); ok && x.Name == local && x.Obj == nil {
		return sel.Sel.Name
	}
	return ""
}
