//go:build unix

// Package docs plays the pages of this folder as their readers do: every block is
// run, saved as the file that it is, or held against what was printed, from the
// top of a page to its end, by bash, with a real exchange and real programs.
//
// What a block is stands behind the fence, in words that a code host does not show:
//
//	```sh                 commands, each of which has to succeed
//	```sh needs=node      commands that need a language's programs: go, node, python, php
//	```yaml exchange.yaml a file of that name; the paragraph above names it
//	```json               the answer of the commands before, "…" standing for anything
//	```text               what they printed, likewise; a line of … is any number of lines
//	```text figure        a drawing, which the test does not check
//
// A block that is none of these fails the test. A paragraph that begins with
// **First** names the pages whose blocks a reader has gone through before. Ports of
// 127.0.0.1 are free ones in place of those that a page names.
//
// install.md is played once. What it has made, and put into the environment, every
// other page finds.
package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestPages plays every page.
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
	made := install(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pages, findings := read(name)
			switch {
			case len(findings) > 0:
				for _, f := range findings {
					t.Error(f)
				}
			case name == installPage:
				told(t, made.outcomes)
			case len(pages[len(pages)-1].blocks) > 0:
				told(t, made.played(t, pages))
			}
		})
	}
}

// told reports what became of the blocks: a test each for those that were skipped.
func told(t *testing.T, outcomes []outcome) {
	t.Helper()
	for _, o := range outcomes {
		if testing.Verbose() && o.said != "" {
			t.Logf("%s printed\n%.2000s", o.at, o.said)
		}
		switch {
		case o.wrong != "":
			t.Errorf("%s: %s", o.at, o.wrong)
		case o.skipped != "":
			t.Run(o.at, func(t *testing.T) { t.Skip(o.skipped) })
		}
	}
}

// read reads a page and those that come first, in the order in which they are
// played, and finds what is wrong with it before anything is run.
func read(name string) (pages []*page, findings []string) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, []string{err.Error()}
	}
	p := parse(name, string(text))
	for _, before := range p.first {
		more, wrong := read(before)
		findings = append(findings, wrong...)
		for _, one := range more {
			if !slices.ContainsFunc(pages, func(p *page) bool { return p.name == one.name }) {
				pages = append(pages, one)
			}
		}
	}
	return append(pages, p), append(findings, p.faults()...)
}
