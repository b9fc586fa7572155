package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// verdict is the comparison of a figure with its goal.
type verdict string

const (
	met         verdict = "met"
	missed      verdict = "missed"
	withinLimit verdict = "within the limit, goal missed"
	noGoal      verdict = "" // the figure has no goal
	failure     verdict = "failed"
)

// row is a row of the table.
type row struct {
	label     string
	measured  string
	rangeText string
	goal      string
	verdict   verdict

	figure figureName // name of the value for other programs; may be empty
	value  float64
}

// table is the complete result.
type table struct {
	machine    []string
	conditions []string
	rows       []row
	notes      []string
}

// atLeast and atMost compare a figure with its goal and with a limit, which may equal the
// goal.
func atLeast(figure, goal, limit float64) verdict { return atMost(-figure, -goal, -limit) }

func atMost(figure, goal, limit float64) verdict {
	switch {
	case figure <= goal:
		return met
	case figure <= limit:
		return withinLimit
	}
	return missed
}

// timesRow compares two figures by the median of their ratios. format has the two figures.
func timesRow(label string, ours, theirs series, format string) row {
	ratio := ours.ratioTo(theirs)
	return row{
		label: label, rangeText: ratio.rangeText("%.2f"), value: ratio.median(),
		measured: fmt.Sprintf("%.2f times ("+format+")", ratio.median(), ours.median(), theirs.median()),
	}
}

// withGoal judges the row's value, which must not exceed the goal or at least the limit.
func (r row) withGoal(text string, goal, limit float64) row {
	r.goal, r.verdict = text, atMost(r.value, goal, limit)
	return r
}

func (t *table) markdown() string {
	var s strings.Builder
	s.WriteString("# Benchmarks\n\nWritten by `make bench`, which measures them again on your machine.\n\n")
	writeBullets(&s, t.machine)
	s.WriteString("\n| measurement | measured | range | goal | verdict |\n|---|---|---|---|---|\n")
	for i := range t.rows {
		r := &t.rows[i]
		fmt.Fprintf(&s, "| %s | %s | %s | %s | %s |\n", r.label, r.measured, r.rangeText, r.goal, r.verdict)
	}
	s.WriteString("\n")
	writeBullets(&s, t.conditions)
	if len(t.notes) > 0 {
		s.WriteString("\n")
		writeBullets(&s, t.notes)
	}
	return s.String()
}

// sectionStart begins the section of a table that appendTable added.
const sectionStart = "\n## Only "

// appendTable writes a table with only some measurements below the full one in a file. It replaces an earlier
// table of the same measurements.
func appendTable(path, names, markdown string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot add a table to the full one; run the benchmark without --only first: %w", err)
	}
	full, sections, _ := strings.Cut(strings.TrimRight(string(text), "\n")+"\n", sectionStart)
	var s strings.Builder
	s.WriteString(full)
	if sections != "" {
		for section := range strings.SplitSeq(sections, sectionStart) {
			if !strings.HasPrefix(section, names+"\n") {
				s.WriteString(sectionStart + section)
			}
		}
	}
	_, body, _ := strings.Cut(markdown, "\n- ") // without the title
	s.WriteString(sectionStart + names + "\n\n- " + body)
	return os.WriteFile(path, []byte(s.String()), 0o644)
}

func writeBullets(s *strings.Builder, lines []string) {
	for _, line := range lines {
		s.WriteString("- " + line + "\n")
	}
}

// oneLine formats an error for a cell of the table.
func oneLine(err error) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(err.Error()), " "), "|", "/")
}

// figureName names a value of the table for programs that read it.
type figureName string

// loadtest/capacity.sh reads these values. Times are microseconds of CPU.
const (
	figureIngest       figureName = "ingest_us"         // for a lead, by number of connections
	figureIngestBytes  figureName = "ingest_log_bytes"  // for a lead
	figurePosted       figureName = "posted_us"         // for a lead that is posted to a buyer
	figurePostedBytes  figureName = "posted_log_bytes"  // for a lead that is posted to a buyer
	figureAuction      figureName = "auction_us"        // for an auction, by number of buyers
	figureAuctionBytes figureName = "auction_log_bytes" // for an auction, by number of buyers
	figureCommitter    figureName = "committer_leads"   // leads a second of the committer alone
	figureReplay       figureName = "replay_leads"      // leads a second
	figureMemory       figureName = "memory_bytes"      // for a lead
	figurePingMemory   figureName = "ping_memory_bytes" // for a ping with a campaign

	figureNoCampaignMemory figureName = "no_campaign_memory_bytes" // for a ping without a campaign
)

// withSize returns the name for one size of the measurement.
func (f figureName) withSize(n int) figureName { return figureName(fmt.Sprintf("%s_%d", f, n)) }

// figures are the named values of a table and the machine that they describe.
type figures struct {
	Machine []string               `json:"machine"`
	Values  map[figureName]float64 `json:"values"`
}

func (t *table) figures() *figures {
	f := &figures{Machine: t.machine, Values: map[figureName]float64{}}
	for i := range t.rows {
		if name := t.rows[i].figure; name != "" {
			f.Values[name] = t.rows[i].value
		}
	}
	return f
}

func (f *figures) write(path string) error {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
