package adapter_test

import (
	"os"
	"strings"
	"testing"
)

// TestTemplatesOfTheDocumentation writes every template of the table in
// docs/adapters.md with one lead and compares the body with the table's.
func TestTemplatesOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../../docs/adapters.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "## How a value is written\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if !found {
		t.Fatal("docs/adapters.md has no section on how a value is written")
	}
	rows := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00"), "|")
		if len(cells) != 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		of := func(i int) string {
			return strings.ReplaceAll(strings.Trim(strings.TrimSpace(cells[i]), "`"), "\x00", "|")
		}
		rows++
		if got := posted(t, of(1), of(2), `cars=2`, `homeowner=true`, `note="A "small" house & barn"`, `born="1968-07-04"`); got != of(3) {
			t.Errorf("%s %s writes %s, and the documentation says %s", of(1), of(2), got, of(3))
		}
	}
	if rows < 8 {
		t.Errorf("the table has %d templates", rows)
	}
}
