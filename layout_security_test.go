package pingpost_test

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

// unshown lists tests that a document says show a promise and that its package has
// not. A test belongs to the package that is named last before it, in its line.
func unshown(t *tree, document string) []string {
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
				found = append(found, fmt.Sprintf("%s:%d: there is no %s in %q: name the test that shows this", document, number+1, name, dir))
			}
		}
	}
	return found
}

func TestLayoutSecurity(t *testing.T) {
	here := here(t)
	report(t, unshown(here, "SECURITY.md"))
	if n := len(namedTest.FindAllString(string(here.texts["SECURITY.md"]), -1)); n < 40 {
		t.Errorf("SECURITY.md names %d tests", n)
	}
}

func TestUnshown(t *testing.T) {
	files := tidy()
	files["server/a_test.go"] = "package server\n\nimport \"testing\"\n\n// TestThat: TestOnlyTold is told of here.\nfunc TestThat(t *testing.T) { t.Log(1) }\n"
	for line, want := range map[string]string{
		"`server` TestThat":                       "",
		"`engine` TestElse, `server` TestThat":    "no TestElse",
		"`server` TestThat; `engine` TestThat":    `no TestThat in "engine"`,
		"`server` TestOnlyTold":                   "no TestOnlyTold",
		"TestThat":                                `in ""`,
		"`server`, and a Testament of no meaning": "",
	} {
		files["SECURITY.md"] = line + "\n"
		got := strings.Join(unshown(planted(t, files), "SECURITY.md"), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
