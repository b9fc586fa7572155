//go:build unix

package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pingpost/internal/must"
)

var (
	linkMark    = regexp.MustCompile(`!?\[[^\]]*\]\(([^)\s]+)\)`)
	headingMark = regexp.MustCompile(`^#{1,6} +(.*?) *$`)
	fenced      = regexp.MustCompile("(?ms)^```.*?\n```$")
	inlineCode  = regexp.MustCompile("`[^`\n]*`")
	noAnchor    = regexp.MustCompile(`[^\p{L}\p{N}\p{M}_\- ]`)
)

// TestLinks: all links of this repository's pages lead to existing files and headings.
func TestLinks(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (skippedFolders[entry.Name()] || entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".venv")):
			return fs.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen++
		for _, link := range deadLinks(path, string(text)) {
			t.Error(link)
		}
		return nil
	})
	if err != nil || seen < 20 {
		t.Errorf("%d pages were read: %v", seen, err)
	}
}

// deadLinks returns a page's links to missing files and headings of this repository.
func deadLinks(path, text string) (found []string) {
	prose := inlineCode.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
	for _, link := range linkMark.FindAllStringSubmatch(prose, -1) {
		target, anchor, _ := strings.Cut(link[1], "#")
		if strings.Contains(target, ":") {
			continue // another site
		}
		file := path
		if target != "" {
			file = filepath.Join(filepath.Dir(path), target)
		}
		info, err := os.Stat(file)
		if err != nil {
			found = append(found, fmt.Sprintf("%s: %s: %v", path, link[1], err))
			continue
		}
		if anchor == "" || info.IsDir() {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil || !anchors(string(content))[anchor] {
			found = append(found, fmt.Sprintf("%s: %s: there is no such heading (%v)", path, link[1], err))
		}
	}
	return found
}

// anchors returns the anchors of a page's headings on a code host.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(fenced.ReplaceAllString(text, "")) {
		if heading := headingMark.FindStringSubmatch(strings.TrimRight(line, "\n")); heading != nil {
			name := strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-")
			for n := 1; all[name]; n++ {
				if one := fmt.Sprintf("%s-%d", name, n); !all[one] {
					name = one
				}
			}
			all[name] = true
		}
	}
	return all
}

// TestDeadLinks: each dead link is reported once.
func TestDeadLinks(t *testing.T) {
	dir := t.TempDir()
	text := "# One `thing`, and more\n\n[a](#one-thing-and-more) [b](#two) [c](other.md#there) [d](other.md#gone) [e](none.md)\n[f](https://example.com/#x) `[g](none)`\n\n# One `thing`, and more\n\n[h](#one-thing-and-more-1)\n"
	must.Succeed(t, os.WriteFile(dir+"/page.md", []byte(text), 0o600))
	must.Succeed(t, os.WriteFile(dir+"/other.md", []byte("```\n# gone\n```\n## There\n"), 0o600))
	found := strings.Join(deadLinks(dir+"/page.md", text), "\n")
	for _, link := range []string{"#two", "other.md#gone", "none.md"} {
		if strings.Count(found, "page.md: "+link+":") != 1 {
			t.Errorf("%s is not reported once in\n%s", link, found)
		}
	}
	if n := strings.Count(found, "\n"); n != 2 {
		t.Errorf("links that are not dead are reported:\n%s", found)
	}
}
