package layout_test

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// roundabout are constructions that make a sentence hard to read. Plain engineering
// prose has about one or two of them per 1,000 words.
var roundabout = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"what/who clause", regexp.MustCompile(`(?i)\b(what|whatever|whoever|whom|whose|who|wherever)\b`)},
	{"nobody/nothing", regexp.MustCompile(`(?i)\b(nobody|nothing|somebody|everybody|anybody|none)\b`)},
	{"odd passive", regexp.MustCompile(`(?i)\b(is|are|was|were|be|been) (told|asked|heard|had|let|shown|known|looked|given|taken|made|said|seen|kept)\b`)},
	{"stands/lies/comes to", regexp.MustCompile(`(?i)\b(stands?|stood|lies|lie|lay|comes? to|came to|in earnest|has the word|of its own)\b`)},
}

var (
	proseWord = regexp.MustCompile(`[A-Za-z']+`)
	codeBlock = regexp.MustCompile("(?s)```.*?```")
	codeSpan  = regexp.MustCompile("`[^`]*`|\\|")
)

// Folders of generated files that carry no mark of their own.
var generatedFolders = []string{"model", "models", "generated", "third_party"}

// prose is all text of one kind in the tree.
type prose struct {
	words  int
	counts []int // one per roundabout construction
}

func (p *prose) add(text string) {
	p.words += len(proseWord.FindAllString(text, -1))
	if p.counts == nil {
		p.counts = make([]int, len(roundabout))
	}
	for i, r := range roundabout {
		p.counts[i] += len(r.pattern.FindAllString(text, -1))
	}
}

func (p *prose) per1000(count int) float64 { return 1000 * float64(count) / float64(max(1, p.words)) }

func (p *prose) total() (sum float64) {
	for _, count := range p.counts {
		sum += p.per1000(count)
	}
	return sum
}

// String returns the counts per 1,000 words.
func (p *prose) String() string {
	parts := []string{fmt.Sprintf("%.1f in %d words", p.total(), p.words)}
	for i, count := range p.counts {
		parts = append(parts, fmt.Sprintf("%s %.1f", roundabout[i].name, p.per1000(count)))
	}
	return strings.Join(parts, ", ")
}

// measureProse returns the counts of the Go comments, without tests and generated files,
// and of the Markdown, without code and without the changelog.
func measureProse(t *tree) (comments, markdown prose) {
	for _, name := range slices.Sorted(maps.Keys(t.texts)) {
		text := t.texts[name]
		inGenerated := slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(part string) bool {
			return slices.Contains(generatedFolders, part)
		})
		switch {
		case inGenerated:
		case path.Ext(name) == ".md" && !strings.Contains(path.Base(name), "CHANGELOG"):
			markdown.add(codeSpan.ReplaceAllString(codeBlock.ReplaceAllString(string(text), ""), " x "))
		case path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") && !isGenerated(text):
			comments.add(commentsOf(text))
		}
	}
	return comments, markdown
}

func isGenerated(text []byte) bool {
	return bytes.Contains(text[:min(len(text), 400)], []byte("DO NOT EDIT"))
}

// commentsOf returns the comments of a Go file without their marks. Directives such as
// //go:build are not prose.
func commentsOf(text []byte) string {
	file, _ := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments)
	var all strings.Builder
	for _, group := range file.Comments {
		all.WriteString(group.Text())
	}
	return all.String()
}

// roundaboutProse reports counts above the limits.
func roundaboutProse(t *tree, maxComments, maxMarkdown float64) []string {
	comments, markdown := measureProse(t)
	var findings []string
	for _, measured := range []struct {
		kind  string
		prose prose
		limit float64
	}{{"Go comments", comments, maxComments}, {"Markdown", markdown, maxMarkdown}} {
		if measured.prose.total() > measured.limit {
			findings = append(findings, fmt.Sprintf("%s: more than %.1f roundabout constructions per 1,000 words: %v: name the actor, and use the noun instead of the clause",
				measured.kind, measured.limit, &measured.prose))
		}
	}
	return findings
}

// TestLayoutProse logs the measures, by which the limits can be lowered.
func TestLayoutProse(t *testing.T) {
	comments, markdown := measureProse(readRepository(t))
	t.Logf("Go comments: %v; Markdown: %v", &comments, &markdown)
}
