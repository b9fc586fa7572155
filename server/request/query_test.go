package request

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"pingpost/api"
)

// queried matches the parameter names that code reads from queries as literals.
var queried = regexp.MustCompile(`(?:\b(?:query|args|QueryArgs\(\))\.(?:Peek|Has|GetUint|GetBool)|\br\.(?:parameter|readTime)|\ba\.readIntegerParameter)\((?:ctx, )?"(\w+)"`)

// queries returns the query parameters of a document.
func queries(t *testing.T, document []byte) (names []string) {
	t.Helper()
	var all any
	if err := yaml.Unmarshal(document, &all); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(at any) {
		switch at := at.(type) {
		case map[string]any:
			if name, named := at["name"].(string); named && at["in"] == "query" {
				names = append(names, name)
			}
			for _, inner := range at {
				walk(inner)
			}
		case []any:
			for _, inner := range at {
				walk(inner)
			}
		}
	}
	walk(all)
	slices.Sort(names)
	return slices.Compact(names)
}

// TestQueryNames checks that each query parameter that the code reads is in the admin API's
// document. It also checks that the public API reads none.
func TestQueryNames(t *testing.T) {
	known := queries(t, api.AdminYAML())
	if public := queries(t, api.PublicYAML()); len(known) < 20 || len(public) > 0 {
		t.Fatalf("the operators' queries have %q, the others' %q", known, public)
	}
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	below, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range append(files, below...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		if !strings.HasPrefix(file, "../admin/") && file != "../request/query.go" { // the latter names no parameter
			if strings.Contains(string(text), "QueryArgs()") {
				t.Errorf("%s reads a query, and is not of the operators' address", file)
			}
			continue
		}
		for _, match := range queried.FindAllStringSubmatch(string(text), -1) {
			if found[match[1]] = true; !slices.Contains(known, match[1]) {
				t.Errorf("%s reads %s, which no query of the document has", file, match[1])
			}
		}
	}
	if len(found) < 15 {
		t.Errorf("%d names are read", len(found))
	}
}
