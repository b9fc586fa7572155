package main

import (
	"fmt"
	"strings"
)

// verdict is how a figure stands to its goal.
type verdict string

const (
	met     verdict = "met"
	missed  verdict = "missed"
	between verdict = "within the limit, goal missed"
	told    verdict = "" // there is no goal: the figure is only told
	failure verdict = "failed"
)

// row is a line of the table.
type row struct {
	what     string
	measured string
	spread   string
	goal     string
	verdict  verdict

	figure figure // by which others find the value; empty: nobody asks for it
	value  float64
}

// table is all that was found.
type table struct {
	machine    []string
	conditions []string
	rows       []row
	notes      []string
}

// atLeast and atMost judge a figure by its goal and, where that is another one,
// by the limit that it may not break.
func atLeast(figure, goal, limit float64) verdict { return atMost(-figure, -goal, -limit) }

func atMost(figure, goal, limit float64) verdict {
	switch {
	case figure <= goal:
		return met
	case figure <= limit:
		return between
	}
	return missed
}

func (t *table) markdown() string {
	var s strings.Builder
	s.WriteString("# Benchmarks\n\nWritten by `make bench`, which measures them again on your machine.\n\n")
	list(&s, t.machine)
	s.WriteString("\n| what | measured | range | goal | verdict |\n|---|---|---|---|---|\n")
	for i := range t.rows {
		r := &t.rows[i]
		fmt.Fprintf(&s, "| %s | %s | %s | %s | %s |\n", r.what, r.measured, r.spread, r.goal, r.verdict)
	}
	s.WriteString("\n")
	list(&s, t.conditions)
	if len(t.notes) > 0 {
		s.WriteString("\n")
		list(&s, t.notes)
	}
	return s.String()
}

func list(s *strings.Builder, lines []string) {
	for _, line := range lines {
		s.WriteString("- " + line + "\n")
	}
}

// oneLine is an error as a cell of the table can hold it.
func oneLine(err error) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(err.Error()), " "), "|", "/")
}
