//go:build unix

package docs_test

import (
	"fmt"
	"regexp"
	"strings"
)

// languageCommands matches commands that need a language.
var languageCommands = map[string]*regexp.Regexp{
	"go":     regexp.MustCompile(`(?m)^(.*[ (&|])?go (run|build|mod|get|test) `),
	"node":   regexp.MustCompile(`(?m)^(.*[ (&|])?(node|npm|npx) `),
	"python": regexp.MustCompile(`(?m)^(.*[ (&|/])?(python3?|pip) `),
	"php":    regexp.MustCompile(`(?m)^(.*[ (&|])?(php|composer) `),
}

// addressCommands matches commands with an optional address. Its default is not the address of
// a test.
var addressCommands = regexp.MustCompile(`pingpost (ping|post|send|explain|statement|erase|export|diff|apply|buyer|receiver)\b`)

var address = regexp.MustCompile(`(127\.0\.0\.1|localhost):(\d+)`)

// faults returns the faults of a page that show without running it.
func (p *page) faults() (found []string) {
	report := func(at, text string, args ...any) { found = append(found, at+": "+fmt.Sprintf(text, args...)) }
	for _, at := range p.strays {
		report(at, "this looks like code, but is in no block; begin the block at the start of a line, and end it")
	}
	for i := range p.blocks {
		b := &p.blocks[i]
		switch b.kind() {
		case unknown:
			report(b.at, "this test has no rule for a block of %q", b.info)
		case file:
			if !strings.Contains(b.above, "`"+b.file+"`") {
				report(b.at, "the paragraph above does not name the file `%s`", b.file)
			}
			if !p.used(b.file, i) {
				report(b.at, "no later command uses %s", b.file)
			}
		case answer, output:
			if i == 0 || p.blocks[i-1].kind() != command {
				report(b.at, "no commands right before could have printed this")
			}
		case command:
			for language, mark := range languageCommands {
				if b.needs != language && mark.MatchString(b.text) {
					report(b.at, "this needs %s, but its fence does not have needs=%[1]s", language)
				}
			}
		}
		if missing := b.unaddressed(); missing != "" {
			report(b.at, "%s names no address", missing)
		}
		for _, port := range address.FindAllStringSubmatch(b.text, -1) {
			if !documented.MatchString(port[2]) {
				report(b.at, "this test cannot replace port %s", port[2])
			}
		}
	}
	return found
}

// unaddressed returns the part of a block that uses a default address, or "".
func (b *block) unaddressed() string {
	if b.kind() == file && b.lang == "yaml" && strings.Contains(b.text, "campaigns:") {
		if len(regexp.MustCompile(`\blisten: `).FindAllString(b.text, -1)) < 2 {
			return "the configuration"
		}
	}
	if b.kind() != command {
		return ""
	}
	for line := range strings.Lines(strings.ReplaceAll(b.text, "\\\n", "")) {
		for _, at := range addressCommands.FindAllStringIndex(line, -1) {
			rest, _, _ := strings.Cut(line[at[1]:], "|")
			if !regexp.MustCompile(`--(url|to|admin|listen) `).MatchString(rest) {
				return line[at[0]:at[1]]
			}
		}
	}
	return ""
}

func (p *page) used(file string, after int) bool {
	for i := after + 1; i < len(p.blocks); i++ {
		if b := &p.blocks[i]; b.kind() == command && strings.Contains(b.text, file) {
			return true
		}
	}
	return false
}
