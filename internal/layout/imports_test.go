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

// forbiddenImports lists imports against the direction of the layers, and packages without a
// row. Tests may import any package, because no package imports them.
func forbiddenImports(t *tree, layers []layer) []string {
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
