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
	counts [4]int // one per roundabout construction
}

func (p *prose) add(text string) {
	p.words += len(proseWord.FindAllString(text, -1))
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

// measureProse returns the counts of each kind of text in proseLimits. Generated files, code
// in Markdown and the changelog do not count.
func measureProse(t *tree) map[string]*prose {
	measured := map[string]*prose{}
	for kind := range proseLimits {
		measured[kind] = new(prose)
	}
	for _, name := range slices.Sorted(maps.Keys(t.texts)) {
		text := t.texts[name]
		inGenerated := slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(part string) bool {
			return slices.Contains(generatedFolders, part)
		})
		switch {
		case inGenerated:
		case path.Ext(name) == ".md" && !strings.Contains(path.Base(name), "CHANGELOG"):
			measured["Markdown"].add(codeSpan.ReplaceAllString(codeBlock.ReplaceAllString(string(text), ""), " x "))
		case strings.HasSuffix(name, "_test.go"):
			measured["Comments of tests"].add(commentsOf(text))
		case path.Ext(name) == ".go" && !isGenerated(text):
			measured["Go comments"].add(commentsOf(text))
		}
	}
	return measured
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
func roundaboutProse(t *tree) (findings []string) {
	for kind, measured := range measureProse(t) {
		if measured.total() > proseLimits[kind] {
			findings = append(findings, fmt.Sprintf("%s: more than %.1f roundabout constructions per 1,000 words: %v: name the actor, and use the noun instead of the clause",
				kind, proseLimits[kind], measured))
		}
	}
	return findings
}
