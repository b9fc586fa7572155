package tracetest

import (
	"fmt"
	"slices"
	"strings"
)

// Roots are the spans of requests, in the order of their beginnings.
func Roots(spans []Span) (roots []Span) {
	for _, s := range spans {
		if s.Kind == "server" {
			roots = append(roots, s)
		}
	}
	slices.SortStableFunc(roots, func(a, b Span) int { return int(int64(a.From) - int64(b.From)) })
	return roots
}

// Tree writes a span and all below it, a line each, and those of one parent in the order of
// their names: "ping buy_1 (client) http.response.status_code=200", with the attributes that
// are asked for.
func Tree(spans []Span, root Span, tell ...string) string {
	var lines []string
	var below func(s Span, depth int)
	below = func(s Span, depth int) {
		line := strings.Repeat("  ", depth) + s.Name
		for _, key := range tell {
			if value, ok := s.Said[key]; ok {
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

// Whole tells what is wrong with the spans of a root: ids twice, parents that are not there,
// a part of the time that is not within its parent's.
func Whole(spans []Span, root Span) (wrong []string) {
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
		parent, there := byID[s.Parent]
		switch {
		case s.Kind == "server":
		case !there:
			wrong = append(wrong, s.Name+" is nobody's")
		case s.From < parent.From || s.To > parent.To:
			wrong = append(wrong, fmt.Sprintf("%s, %d to %d, is not within %s, %d to %d", s.Name, s.From, s.To, parent.Name, parent.From, parent.To))
		}
	}
	return wrong
}
