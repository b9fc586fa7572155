package pingpost_test

import (
	"fmt"
	"go/ast"
	"slices"
)

// sizes are limits in lines. Median and ninetieth are of the files' lengths.
type sizes struct {
	median, ninetieth, file, function int
}

// measured is code, tests aside.
func (t *tree) measured() []source {
	return slices.DeleteFunc(slices.Clone(t.sources), source.isTest)
}

func tooLong(files []source, limit sizes) []string {
	var found []string
	lengths := make([]int, 0, len(files))
	for _, s := range files {
		lengths = append(lengths, s.lines)
		if s.lines > limit.file {
			found = append(found, fmt.Sprintf("%s: %d lines, at most %d", s.path, s.lines, limit.file))
		}
		for _, f := range functions(s) {
			if f.lines > limit.function {
				found = append(found, fmt.Sprintf("%s: %s has %d lines, at most %d", f.at, f.name, f.lines, limit.function))
			}
		}
	}
	if n := percentile(lengths, 50); n > limit.median {
		found = append(found, fmt.Sprintf("the median file has %d lines, at most %d", n, limit.median))
	}
	if n := percentile(lengths, 90); n > limit.ninetieth {
		found = append(found, fmt.Sprintf("one file in ten has %d lines or more, at most %d", n, limit.ninetieth))
	}
	return found
}

// percentile is by nearest rank: the least length that p of a hundred do not exceed.
func percentile(lengths []int, p int) int {
	if len(lengths) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(lengths))
	return sorted[(len(sorted)*p+99)/100-1]
}

type function struct {
	at, name string
	lines    int
}

// functions lists the declared ones and those that a package variable is made
// of; a literal inside another function counts into that one.
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

// testRatio is lines of test for each line of code, the root left out: its
// tests are about the shape of the tree and not about what a package does. What
// stands in a folder of apparatus is test, whatever its files are called.
func testRatio(t *tree) float64 {
	var code, tests int
	for _, s := range t.sources {
		switch {
		case s.dir() == ".":
		case s.isTest(), matchesAny(apparatus, s.dir()):
			tests += s.lines
		default:
			code += s.lines
		}
	}
	if code == 0 {
		return 0
	}
	return float64(tests) / float64(code)
}
