package syntax

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one mistake or warning about a document: its place, and a message with the remedy. The message
// never contains a secret or a value from the environment.
type Problem struct {
	File    string
	Line    int // from 1; 0 if the document has no text
	Column  int // from 1, in characters
	Path    string
	Message string
}

// Error returns the problem in one line: file:line:column: path: message.
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

// Problems lists mistakes or warnings of a document. Err sorts them by position.
type Problems []Problem

// ShownProblems is the maximum number of problems that Error prints. It only counts the others.
const ShownProblems = 200

// Error returns one line for each problem, up to ShownProblems, and then the number of the
// others.
func (p Problems) Error() string {
	var b strings.Builder
	for i, problem := range p {
		if i == ShownProblems {
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

// Err sorts the problems and returns them as an error, or nil if there are no problems.
func (p Problems) Err() error {
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

// FormatAsWarnings formats all problems as warnings: one line for each, with its place.
func (p Problems) FormatAsWarnings() string {
	var b strings.Builder
	for _, problem := range p {
		b.WriteString("warning: " + problem.Error() + "\n")
	}
	return b.String()
}
