package pingpost_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// noCurrency is a code of ISO 4217, and the only one of the words that the
// field uses itself: a string that is just this is no mark.
const noCurrency = `"` + "XX" + `X"`

// unfinished lists lines that carry one of the words, as a word, in any file
// that people write.
func unfinished(t *tree, words []string) []string {
	pattern := regexp.MustCompile(`\b(` + strings.Join(words, "|") + `)\b`)
	var found []string
	for _, name := range slices.Sorted(maps.Keys(t.texts)) {
		for i, line := range strings.Split(string(t.texts[name]), "\n") {
			if word := pattern.FindString(strings.ReplaceAll(line, noCurrency, "")); word != "" {
				found = append(found, fmt.Sprintf("%s:%d: %s: finish it, or open an issue and say nothing here", name, i+1, word))
			}
		}
	}
	return found
}

// undocumented lists packages without a package comment that goes beyond the
// package's name.
func undocumented(t *tree) []string {
	documented := map[string]bool{}
	for _, s := range t.sources {
		doc := strings.Join(strings.Fields(s.file.Doc.Text()), " ")
		begins := "Package " + strings.TrimSuffix(s.file.Name.Name, "_test") + " "
		if s.file.Name.Name == "main" {
			begins = "Command "
		}
		documented[s.dir()] = documented[s.dir()] || strings.HasPrefix(doc, begins) && len(doc) > len(begins)+20
	}
	var found []string
	for _, dir := range slices.Sorted(maps.Keys(documented)) {
		if !documented[dir] {
			found = append(found, dir+`: no package comment ("Package name …", "Command name …") that says what it is for`)
		}
	}
	return found
}

// vagueNames lists packages whose name, or folder, says nothing.
func vagueNames(t *tree, vague []string) []string {
	var found []string
	for _, s := range t.sources {
		for _, name := range append(strings.Split(s.dir(), "/"), s.file.Name.Name) {
			if slices.Contains(vague, strings.TrimSuffix(name, "_test")) {
				found = append(found, fmt.Sprintf("%s: a package %q could hold anything: name what it is", s.dir(), name))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func strangeFolders(t *tree, allowed []string) []string {
	var found []string
	for _, name := range t.folders {
		if !slices.Contains(allowed, name) {
			found = append(found, name+": no such folder in the drawing of the house")
		}
	}
	return found
}
