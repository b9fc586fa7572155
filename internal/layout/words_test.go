package layout_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// noCurrency is the ISO 4217 code for no currency, as a string. It is not a mark of
// unfinished work.
const noCurrency = `"` + "XX" + `X"`

// unfinished lists lines of hand-written files that contain one of the words.
func unfinished(t *tree, words []string) []string {
	pattern := regexp.MustCompile(`\b(` + strings.Join(words, "|") + `)\b`)
	var found []string
	for _, name := range slices.Sorted(maps.Keys(t.texts)) {
		for i, line := range strings.Split(string(t.texts[name]), "\n") {
			if word := pattern.FindString(strings.ReplaceAll(line, noCurrency, "")); word != "" {
				found = append(found, fmt.Sprintf("%s:%d: %s: finish it, or open an issue and remove the mark", name, i+1, word))
			}
		}
	}
	return found
}

// undocumented lists packages without a package comment, or with one that only repeats
// the name.
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
			found = append(found, dir+`: no package comment ("Package name …", "Command name …") with the purpose`)
		}
	}
	return found
}

// misnamed lists functions and types outside of tests whose comment does not have their
// name in its first sentence: most often it has the name from before a rename.
func misnamed(t *tree) []string {
	var found []string
	check := func(s source, doc *ast.CommentGroup, name *ast.Ident) {
		first, _, _ := strings.Cut(strings.ReplaceAll(doc.Text(), "\n", " ")+" ", ". ")
		isWord := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
		words := strings.FieldsFunc(first, func(r rune) bool { return !isWord(r) })
		if len(words) > 0 && !slices.Contains(words, name.Name) {
			found = append(found, fmt.Sprintf("%s: the comment does not begin with %s", s.at(name.Pos()), name.Name))
		}
	}
	for _, s := range t.sources {
		if s.isTest() || ast.IsGenerated(s.file) {
			continue
		}
		for _, declaration := range s.file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				check(s, d.Doc, d.Name)
			case *ast.GenDecl:
				if d.Tok == token.TYPE && !d.Lparen.IsValid() {
					check(s, d.Doc, d.Specs[0].(*ast.TypeSpec).Name)
				}
			}
		}
	}
	return found
}

// vagueNames lists packages with a name or folder that does not say what they hold.
func vagueNames(t *tree, vague []string) []string {
	var found []string
	for _, s := range t.sources {
		for _, name := range append(strings.Split(s.dir(), "/"), s.file.Name.Name) {
			if slices.Contains(vague, strings.TrimSuffix(name, "_test")) {
				found = append(found, fmt.Sprintf("%s: the package name %q is vague: name its content", s.dir(), name))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func unlistedFolders(t *tree, allowed []string) []string {
	var found []string
	for _, name := range t.folders {
		if !slices.Contains(allowed, name) {
			found = append(found, name+": the root must not have this folder")
		}
	}
	return found
}
