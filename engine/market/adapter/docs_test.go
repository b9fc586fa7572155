package adapter_test

import (
	"os"
	"strings"
	"testing"
)

// TestDocumentationTemplates renders every template of the table in docs/adapters.md and
// compares the body with the table's.
func TestDocumentationTemplates(t *testing.T) {
	page, err := os.ReadFile("../../../docs/adapters.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "## How a value is written\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if !found {
		t.Fatal("docs/adapters.md has no section: How a value is written")
	}
	rows := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00"), "|")
		if len(cells) != 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		cell := func(i int) string {
			return strings.ReplaceAll(strings.Trim(strings.TrimSpace(cells[i]), "`"), "\x00", "|")
		}
		rows++
		if got := renderPost(t, cell(1), cell(2), `cars=2`, `homeowner=true`, `note="A "small" house & barn"`, `born="1968-07-04"`); got != cell(3) {
			t.Errorf("%s %s renders %s, but the documentation has %s", cell(1), cell(2), got, cell(3))
		}
	}
	if rows < 8 {
		t.Errorf("the table has %d templates", rows)
	}
}
