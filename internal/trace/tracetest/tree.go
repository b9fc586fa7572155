package tracetest

import (
	"fmt"
	"slices"
	"strings"
)

// ServerSpansByStart returns the server spans, one for each request to the exchange, ordered by their start.
func ServerSpansByStart(spans []Span) (roots []Span) {
	for _, s := range spans {
		if s.Kind == "server" {
			roots = append(roots, s)
		}
	}
	slices.SortStableFunc(roots, func(a, b Span) int { return int(int64(a.From) - int64(b.From)) })
	return roots
}

// Tree formats root and all spans below it, one per line and indented by depth. Spans with the
// same parent are in order of their names. Each line has the values of the wanted attributes, and
// "failed" for a failed span: "ping buy_1 status_code=500 failed".
func Tree(spans []Span, root Span, wantedAttributes ...string) string {
	var lines []string
	var below func(s Span, depth int)
	below = func(s Span, depth int) {
		line := strings.Repeat("  ", depth) + s.Name
		for _, key := range wantedAttributes {
			if value, ok := s.Attributes[key]; ok {
				line += fmt.Sprintf(" %s=%s", key[strings.LastIndexByte(key, '.')+1:], value)
			}
		}
		if s.Failed {
			line += " failed"
		}
		lines = append(lines, line)
		var children []Span
		for _, child := range spans {
			if child.Trace == root.Trace && child.Parent == s.ID {
				children = append(children, child)
			}
		}
		slices.SortStableFunc(children, func(a, b Span) int { return strings.Compare(a.Name, b.Name) })
		for _, child := range children {
			below(child, depth+1)
		}
	}
	below(root, 0)
	return strings.Join(lines, "\n")
}

// Defects describes the mistakes in the spans of root's trace, one line each: malformed or
// repeated ids, missing parents, and times outside those of the parent.
func Defects(spans []Span, root Span) (wrong []string) {
	byID := map[string]Span{}
	for _, s := range spans {
		if s.Trace != root.Trace {
			continue
		}
		if _, twice := byID[s.ID]; twice || len(s.ID) != 16 || s.ID == "0000000000000000" {
			wrong = append(wrong, fmt.Sprintf("%s has id %q", s.Name, s.ID))
		}
		byID[s.ID] = s
	}
	for _, s := range byID {
		if s.To < s.From {
			wrong = append(wrong, s.Name+" ends before it begins")
		}
		parent, found := byID[s.Parent]
		switch {
		case s.Kind == "server":
		case !found:
			wrong = append(wrong, s.Name+" has no parent")
		case s.From < parent.From || s.To > parent.To:
			wrong = append(wrong, fmt.Sprintf("%s, %d to %d, is not within %s, %d to %d", s.Name, s.From, s.To, parent.Name, parent.From, parent.To))
		}
	}
	return wrong
}
