package layout_test

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

// layer lists the packages of the module that the packages matching of may import. A
// pattern is a folder, or a folder with all folders below it ("engine/..."); "..." alone
// matches every folder.
type layer struct {
	of      string
	may     []string
	mustNot []string // exceptions from may
}

func matches(pattern, dir string) bool {
	if pattern == "..." {
		return true
	}
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
		return dir == prefix || strings.HasPrefix(dir, prefix+"/")
	}
	return dir == pattern
}

func matchesAny(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, dir) })
}

// layerOf returns the row for dir: the one with the longest matching pattern.
func layerOf(layers []layer, dir string) (found layer, ok bool) {
	for _, l := range layers {
		if matches(l.of, dir) && (!ok || len(l.of) > len(found.of)) {
			found, ok = l, true
		}
	}
	return found, ok
}

// wrongEdges lists imports against the direction of the layers, and packages without a
// row. Tests may import any package, because no package imports them.
func wrongEdges(t *tree, layers []layer) []string {
	var found []string
	for _, s := range t.sources {
		if s.isTest() {
			continue
		}
		l, known := layerOf(layers, s.dir())
		if !known {
			found = append(found, fmt.Sprintf("%s: package %s has no row in the table of layers", s.path, s.dir()))
			continue
		}
		for _, spec := range s.file.Imports {
			to, ours := strings.CutPrefix(importPath(spec), t.module+"/")
			if !ours || to == s.dir() {
				continue
			}
			if !matchesAny(l.may, to) || matchesAny(l.mustNot, to) {
				found = append(found, fmt.Sprintf("%s: %s must not import %s", s.at(spec.Pos()), s.dir(), to))
			}
		}
	}
	return found
}

// forbiddenImports lists, in the code under a folder, imports of packages that the code
// may only reach through a port.
func forbiddenImports(t *tree, under string, forbidden []string) []string {
	var found []string
	for _, s := range t.sources {
		if s.isTest() || !matches(under+"/...", s.dir()) {
			continue
		}
		for _, spec := range s.file.Imports {
			if name := importPath(spec); matchesAny(forbidden, name) {
				found = append(found, fmt.Sprintf("%[1]s: code under %[3]s must not import %[2]s: use a port",
					s.at(spec.Pos()), name, under))
			}
		}
	}
	return found
}

// forbiddenCalls lists uses of the named members of one standard package, under any local
// name of the package. A member counts even if it is not called, because a function value
// can be passed on.
func forbiddenCalls(t *tree, under, pkg string, names []string) []string {
	var found []string
	for _, s := range t.sources {
		if s.isTest() || !matches(under+"/...", s.dir()) {
			continue
		}
		local, imported := localName(s.file, pkg)
		if !imported {
			continue
		}
		if local == "." {
			found = append(found, fmt.Sprintf("%s: a dot import of %s hides the members in use", s.path, pkg))
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			// The parser resolves a variable that shadows the package, so that it has an object.
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == local && x.Obj == nil && slices.Contains(names, sel.Sel.Name) {
				found = append(found, fmt.Sprintf("%[1]s: code under %[4]s must not use %[2]s.%[3]s: use a port",
					s.at(sel.Pos()), pkg, sel.Sel.Name, under))
			}
			return true
		})
	}
	return found
}

func importPath(spec *ast.ImportSpec) string {
	name, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic("BUG: the parser let an import path through: " + spec.Path.Value)
	}
	return name
}

func localName(file *ast.File, pkg string) (name string, imported bool) {
	for _, spec := range file.Imports {
		if importPath(spec) != pkg {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name, spec.Name.Name != "_"
		}
		return path.Base(pkg), true
	}
	return "", false
}
