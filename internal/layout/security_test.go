package layout_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var (
	namedPackage = regexp.MustCompile("`([a-z/]+)`")
	namedTest    = regexp.MustCompile(`\bTest[A-Z]\w+`)
)

// missingTests lists tests that a document names and that do not exist. A test belongs to
// the package that the line names last before the test.
func missingTests(t *tree, document string) []string {
	has := map[string]bool{}
	for _, s := range t.sources {
		for _, name := range namedTest.FindAllString(string(t.texts[s.path]), -1) {
			if s.isTest() && strings.Contains(string(t.texts[s.path]), "\nfunc "+name+"(") {
				has[s.dir()+" "+name] = true
			}
		}
	}
	var found []string
	for number, line := range strings.Split(string(t.texts[document]), "\n") {
		for _, at := range namedTest.FindAllStringIndex(line, -1) {
			name, dir := line[at[0]:at[1]], ""
			for _, match := range namedPackage.FindAllStringSubmatch(line[:at[0]], -1) {
				dir = match[1]
			}
			if !has[dir+" "+name] {
				found = append(found, fmt.Sprintf("%s:%d: there is no %s in package %q: name the test that proves the statement", document, number+1, name, dir))
			}
		}
	}
	return found
}

func TestLayoutSecurity(t *testing.T) {
	tree := readRepository(t)
	reportFindings(t, missingTests(tree, "SECURITY.md"))
	if n := len(namedTest.FindAllString(string(tree.texts["SECURITY.md"]), -1)); n < 40 {
		t.Errorf("SECURITY.md names %d tests", n)
	}
}

func TestMissingTests(t *testing.T) {
	files := validRepository()
	files["server/a_test.go"] = "package server\n\nimport \"testing\"\n\n// TestThat: TestInComment is only in this comment.\nfunc TestThat(t *testing.T) { t.Log(1) }\n"
	for line, want := range map[string]string{
		"`server` TestThat":                       "",
		"`engine` TestElse, `server` TestThat":    "no TestElse",
		"`server` TestThat; `engine` TestThat":    `no TestThat in package "engine"`,
		"`server` TestInComment":                  "no TestInComment",
		"TestThat":                                `in package ""`,
		"`server`, and a Testament of no meaning": "",
	} {
		files["SECURITY.md"] = line + "\n"
		got := strings.Join(missingTests(treeOf(t, files), "SECURITY.md"), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
