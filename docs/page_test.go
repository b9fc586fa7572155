//go:build unix

package docs_test

import (
	"fmt"
	"regexp"
	"strings"
)

// page is a Markdown file with its blocks.
type page struct {
	name   string
	blocks []block
	first  []string // pages that come before it
	strays []string // lines that look like code, but are in no block
}

// block is the text between two fences.
type block struct {
	at    string // page and line
	info  string // after the fence
	text  string
	above string // the paragraph above it

	lang, file, needs string // parsed from info
	unknownWord       string // in info
}

var (
	prerequisites = regexp.MustCompile(`^\*\*First\*\*`)
	linked        = regexp.MustCompile(`\]\(([a-z-]+\.md)\)`)
)

// parse reads a page.
func parse(name, text string) *page {
	p := &page{name: name}
	var open *block
	var paragraph, last []string // lines of the open paragraph, and of the last complete one
	for i, line := range strings.Split(text, "\n") {
		at := fmt.Sprintf("%s:%d", name, i+1)
		switch {
		case open != nil && line == "```":
			p.blocks, open = append(p.blocks, *open), nil
		case open != nil:
			open.text += line + "\n"
		case strings.HasPrefix(line, "```"):
			if len(paragraph) > 0 {
				last = paragraph
			}
			open = &block{at: at, info: strings.TrimPrefix(line, "```"), above: strings.Join(last, " ")}
			open.parseInfo()
			paragraph, last = nil, nil
		case strings.TrimSpace(line) == "":
			if len(paragraph) > 0 {
				last, paragraph = paragraph, nil
			}
		default:
			if isStray(line) {
				p.strays = append(p.strays, at)
			}
			paragraph = append(paragraph, line)
			if prerequisites.MatchString(paragraph[0]) {
				for _, found := range linked.FindAllStringSubmatch(line, -1) {
					p.first = append(p.first, found[1])
				}
			}
		}
	}
	if open != nil {
		p.strays = append(p.strays, open.at)
	}
	return p
}

// isStray reports whether a line looks like code that no test runs.
func isStray(line string) bool {
	trimmed := strings.TrimSpace(line)
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") ||
		strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") ||
		strings.Contains(line, "<pre") || strings.Contains(line, "<code")
}

// parseInfo parses the words after the fence.
func (b *block) parseInfo() {
	for i, word := range strings.Fields(b.info) {
		needs, ok := strings.CutPrefix(word, "needs=")
		switch {
		case i == 0:
			b.lang = word
		case ok && b.needs == "":
			b.needs = needs
		case b.file == "":
			b.file = word
		default:
			b.unknownWord = word
		}
	}
}

// kind is the use of a block.
type kind int

const (
	unknown kind = iota
	command
	file
	answer // JSON
	output
	figure  // a drawing
	runbook // commands that the test of the runbook in cmd/pingpost runs
)

// runbookMark begins the paragraph above commands of the runbook.
const runbookMark = "<!-- runbook: "

var languages = map[string]bool{
	"yaml": true, "json": true, "go": true, "js": true, "ts": true, "python": true, "php": true, "ini": true, "sh": true,
}

func (b *block) kind() kind {
	switch {
	case b.unknownWord != "":
	case b.needs != "":
		if _, known := needs[b.needs]; known && b.lang == "sh" && b.file == "" {
			return command
		}
	case b.lang == "sh" && strings.HasPrefix(b.above, runbookMark):
		return runbook
	case b.lang == "text" && b.file == "figure":
		return figure
	case b.file != "":
		if languages[b.lang] && fileName.MatchString(b.file) {
			return file
		}
	case b.lang == "sh":
		return command
	case b.lang == "json":
		return answer
	case b.lang == "text":
		return output
	}
	return unknown
}

var fileName = regexp.MustCompile(`^[a-z][a-z0-9_-]*\.[a-z]+$`)
