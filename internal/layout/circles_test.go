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

// importCircles lists the groups of TypeScript files under a folder that import each
// other in a circle.
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
	var findings []string
	for _, circle := range circlesOf(imports) {
		findings = append(findings, fmt.Sprintf("%s: %d files import each other in a circle: %s", circle[0], len(circle), strings.Join(circle, ", ")))
	}
	return findings
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

// circlesOf returns the groups of files of which each reaches each other, sorted. It
// compares the reachable sets, which is fast enough for some hundred files.
func circlesOf(imports map[string][]string) [][]string {
	reachable := map[string]map[string]bool{}
	for from := range imports {
		seen := map[string]bool{}
		for next := slices.Clone(imports[from]); len(next) > 0; {
			to := next[len(next)-1]
			next = next[:len(next)-1]
			if !seen[to] {
				seen[to] = true
				next = append(next, imports[to]...)
			}
		}
		reachable[from] = seen
	}
	var circles [][]string
	grouped := map[string]bool{}
	for _, from := range slices.Sorted(maps.Keys(imports)) {
		if grouped[from] || !reachable[from][from] {
			continue
		}
		var circle []string
		for _, to := range slices.Sorted(maps.Keys(reachable[from])) {
			if reachable[to][from] {
				circle = append(circle, to)
				grouped[to] = true
			}
		}
		circles = append(circles, circle)
	}
	return circles
}
