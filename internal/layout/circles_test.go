package layout_test

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// importFrom finds the relative path of an import or a re-export in TypeScript. Imports
// of types count: the compiler drops them, but the reader still needs both files.
var importFrom = regexp.MustCompile(`(?m)^\s*(?:import|export)\b[^;'"]*?['"](\.[^'"]+)['"]`)

// importCircles lists, in one finding, the TypeScript files under a folder whose imports lead
// back to them.
func importCircles(t *tree, under string) []string {
	imports := map[string][]string{}
	for name, text := range t.texts {
		if !strings.HasPrefix(name, under+"/") || path.Ext(name) != ".ts" && path.Ext(name) != ".tsx" {
			continue
		}
		for _, match := range importFrom.FindAllSubmatch(text, -1) {
			if to := resolveImport(t, name, string(match[1])); to != "" {
				imports[name] = append(imports[name], to)
			}
		}
	}
	var circular []string
	for _, from := range slices.Sorted(maps.Keys(imports)) {
		reached := map[string]bool{}
		for next := slices.Clone(imports[from]); len(next) > 0; next = next[1:] {
			if to := next[0]; !reached[to] {
				reached[to] = true
				next = append(next, imports[to]...)
			}
		}
		if reached[from] {
			circular = append(circular, from)
		}
	}
	if len(circular) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d files import each other in a circle: %s", len(circular), strings.Join(circular, ", "))}
}

// resolveImport returns the file that a relative import names, or "" if it is not
// TypeScript.
func resolveImport(t *tree, from, relative string) string {
	target := path.Join(path.Dir(from), relative)
	for _, suffix := range []string{"", ".ts", ".tsx", "/index.ts", "/index.tsx"} {
		if _, exists := t.texts[target+suffix]; exists && strings.HasPrefix(path.Ext(target+suffix), ".ts") {
			return target + suffix
		}
	}
	return ""
}
