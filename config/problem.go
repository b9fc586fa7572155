package config

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one mistake in a document: where it stands and what to do about
// it. Its message never holds a secret nor anything from the environment.
type Problem struct {
	File    string
	Line    int // from 1; 0 where the document has no text
	Column  int // from 1, in characters
	Path    string
	Message string
}

// Error is the problem in one line: file:line:column: path: message.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	if p.Path != "" {
		b.WriteString(": " + p.Path)
	}
	b.WriteString(": " + p.Message)
	return b.String()
}

// Problems is every mistake of a document, in the order of its lines.
type Problems []Problem

// shownProblems is how many problems a text shows before it only counts them.
const shownProblems = 200

// Error has one problem a line.
func (p Problems) Error() string {
	var b strings.Builder
	for i, problem := range p {
		if i == shownProblems {
			fmt.Fprintf(&b, "\nand %d more", len(p)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(problem.Error())
	}
	return b.String()
}

// err is the sorted problems as an error, or nil where there are none.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return &p
}

// hides tells whether a problem at the path, or around it, or inside it, makes
// what a later step says of the path mere echo.
func (p Problems) hides(path string) bool {
	for _, known := range p {
		if within(path, known.Path) || within(known.Path, path) {
			return true
		}
	}
	return false
}

// within tells whether path is outer or lies inside it.
func within(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// hidesIDs tells whether an id could not be read, so that references to it
// would seem to lead nowhere.
func (p Problems) hidesIDs() bool {
	for _, known := range p {
		switch collection, rest, _ := strings.Cut(known.Path, "["); collection {
		case "suppliers", "buyers", "suppression_lists":
			_, inside, indexed := strings.Cut(rest, "]")
			if !indexed || inside == "" || inside == ".id" {
				return true
			}
		}
	}
	return false
}

// isReference tells whether the path is one at which another's id stands.
func isReference(path string) bool {
	return strings.HasSuffix(path, ".buyer") || strings.Contains(path, ".suppliers[") || strings.Contains(path, ".suppression[")
}
