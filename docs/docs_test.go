//go:build unix

// Package docs tests the pages of this folder like their readers: from the top of a page to
// its end it runs each block with bash, saves it as a file, or compares it with the output, with
// a real exchange and real programs.
//
// Words behind the fence, which a code host does not show, tell the kind of a block:
//
//	```sh                 commands that must all succeed
//	```sh needs=node      commands that need a language: go, node, python, php
//	```yaml exchange.yaml a file of that name; the paragraph above names it
//	```json               the answer of the commands before; "…" is anything
//	```text               their output, likewise; a line of … is any number of lines
//	```text figure        a drawing, which the test does not check
//
// Any other block fails the test. A paragraph that begins with **First** links the pages that
// come before. The test replaces the ports of 127.0.0.1 with free ones.
//
// The test runs install.md once. All other pages use its files and its environment.
package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestPages runs the commands of every page.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long runs the examples of the pages")
	}
	names, err := filepath.Glob("*.md")
	if err != nil || !slices.Contains(names, installPage) {
		t.Fatalf("%v, %v", names, err)
	}
	for _, tool := range []string{"bash", "curl", "make", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil && os.Getenv("CI") == "" {
			t.Skipf("the pages' commands need %s: %v", tool, err)
		}
	}
	installed := install(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pages, findings := readPages(name)
			switch {
			case len(findings) > 0:
				for _, f := range findings {
					t.Error(f)
				}
			case name == installPage:
				reportOutcomes(t, installed.outcomes)
			case len(pages[len(pages)-1].blocks) > 0:
				reportOutcomes(t, installed.runPages(t, pages))
			}
		})
	}
}

// reportOutcomes reports the outcomes of blocks, with a skipped test for each skipped block.
func reportOutcomes(t *testing.T, outcomes []outcome) {
	t.Helper()
	for _, o := range outcomes {
		if testing.Verbose() && o.output != "" {
			t.Logf("%s printed\n%.2000s", o.at, o.output)
		}
		switch {
		case o.failure != "":
			t.Errorf("%s: %s", o.at, o.failure)
		case o.skipped != "":
			t.Run(o.at, func(t *testing.T) { t.Skip(o.skipped) })
		}
	}
}

// readPages reads a page after the pages that come first. It returns the faults that show
// before the first command runs.
func readPages(name string) (pages []*page, findings []string) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, []string{err.Error()}
	}
	p := parse(name, string(text))
	for _, first := range p.first {
		more, faults := readPages(first)
		findings = append(findings, faults...)
		for _, one := range more {
			if !slices.ContainsFunc(pages, func(p *page) bool { return p.name == one.name }) {
				pages = append(pages, one)
			}
		}
	}
	return append(pages, p), append(findings, p.faults()...)
}
