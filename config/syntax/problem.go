package syntax

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

// ShownProblems is how many problems a text shows before it only counts them.
const ShownProblems = 200

// Error has one problem a line.
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

// Err is the sorted problems as an error, or nil where there are none.
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

// Warnings is the warnings in lines, each with its place.
func (p Problems) Warnings() string {
	var b strings.Builder
	for _, problem := range p {
		b.WriteString("warning: " + problem.Error() + "\n")
	}
	return b.String()
}
