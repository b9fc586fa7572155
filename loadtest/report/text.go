package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"pingpost/api/errcode"
	"pingpost/loadtest/load"
	"pingpost/loadtest/trial"
)

// JSON returns the whole result.
func JSON(r *trial.Result) ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	return append(text, '\n'), err
}

// Table returns the result as text.
func Table(r *trial.Result) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s\n", r.Scenario, r.About)
	fmt.Fprintf(&out, "%d of %d arrivals in %s, seed %d", r.Sent, r.Offered, load.FormatDuration(r.Lasted), r.Seed)
	if r.Interrupted {
		out.WriteString(", interrupted")
	}
	out.WriteString("\n\n")
	latencies(&out, r)
	out.WriteString("\n")
	ends(&out, r)
	stages(&out, r)
	account(&out, r)
	limits(&out, r)
	return out.String()
}

// Missed lists the missed limits and the mismatches, one in each line.
func Missed(r *trial.Result) string {
	var out strings.Builder
	if r.Interrupted {
		out.WriteString("not held: the test was interrupted\n")
	}
	for _, l := range r.Limits {
		if !l.Held {
			fmt.Fprintf(&out, "not held: %s: %s, at most %s\n", l.What, l.Got, l.Most)
		}
	}
	for _, wrong := range r.Account.Mismatches {
		fmt.Fprintf(&out, "mismatch: %s\n", wrong)
	}
	return out.String()
}

// Refusals explains the exchange's temporary refusals (503 unavailable), and says whether they break a
// promise. It returns "" without such refusals.
func Refusals(r *trial.Result) string {
	count := 0
	for _, reason := range r.Reasons {
		if reason.End == trial.Refused.String() && reason.Word == errcode.Unavailable {
			count += reason.Count
		}
	}
	if count == 0 {
		return ""
	}
	noun, verb, object := "requests", "were", "them"
	if count == 1 {
		noun, verb, object = "request", "was", "it"
	}
	return fmt.Sprintf("%d %s %s refused (503 unavailable), because this machine was too busy to answer in time,\n"+
		"or its disk is almost full. The exchange did not accept %s, so no lead is lost: a supplier\n"+
		"sends %[4]s again. This breaks no promise, but the machine is too slow for this rate.\n", count, noun, verb, object)
}

// columns writes rows in columns, with numbers aligned to the right.
func columns(out *strings.Builder, rows func(row func(cells ...any))) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	rows(func(cells ...any) {
		for _, cell := range cells {
			if d, ok := cell.(time.Duration); ok {
				cell = load.FormatDuration(d)
			}
			fmt.Fprintf(w, "%v\t", cell)
		}
		fmt.Fprintln(w)
	})
	_ = w.Flush() // into memory
}

func latencies(out *strings.Builder, r *trial.Result) {
	columns(out, func(row func(...any)) {
		row("", "count", "mean", "p50", "p90", "p99", "p99.9", "max")
		for _, l := range r.Latencies {
			row(l.Of, l.Count, l.Mean, l.P50, l.P90, l.P99, l.P999, l.Max)
		}
		for _, p := range r.Phases {
			for _, l := range p.Latencies {
				if len(r.Phases) > 1 && l.Count > 0 {
					row(p.Name+" "+l.Of, l.Count, l.Mean, l.P50, l.P90, l.P99, l.P999, l.Max)
				}
			}
		}
	})
}

// endOrder is the order of the outcomes.
var endOrder = []string{"sold", "unsold", "open", "refused", "failed", "broken"}

func ends(out *strings.Builder, r *trial.Result) {
	var parts []string
	for _, end := range endOrder {
		if n := r.Ends[end]; n > 0 || end == "sold" {
			parts = append(parts, fmt.Sprintf("%d %s", n, end))
		}
	}
	out.WriteString(strings.Join(parts, ", ") + " of the measured arrivals\n")
	for _, reason := range r.Reasons {
		fmt.Fprintf(out, "  %d times: %s %s: %s\n", reason.Count, reason.Request, reason.End, reason.Word)
	}
	g := r.Generator
	fmt.Fprintf(out, "the client's own delay: p50 %s, p99 %s, at most %s; %d arrivals found all %d connections busy\n",
		load.FormatDuration(g.P50), load.FormatDuration(g.P99), load.FormatDuration(g.Max), g.Full, g.InFlight)
}

func stages(out *strings.Builder, r *trial.Result) {
	if len(r.Stages) == 0 {
		return
	}
	out.WriteString("\nin the exchange, mean (p99):\n")
	columns(out, func(row func(...any)) {
		row("", "decode", "decide", "commit", "buyer", "answer")
		for i := 0; i+5 <= len(r.Stages); i += 5 {
			cells := []any{r.Stages[i].Path}
			for _, s := range r.Stages[i : i+5] {
				cells = append(cells, load.FormatDuration(s.Mean)+" ("+load.FormatDuration(s.P99)+")")
			}
			row(cells...)
		}
	})
	if s := r.Syncs; s != nil {
		fmt.Fprintf(out, "%d fsyncs of %s on average, %.1f entries each\n", s.Count, load.FormatDuration(s.Mean), s.Each)
	}
}

// mostRows is the number of buyers listed on a terminal.
const mostRows = 20

func account(out *strings.Builder, r *trial.Result) {
	a := r.Account
	fmt.Fprintf(out, "\n%d leads sold", a.Sold)
	if a.NotAsked > 0 {
		fmt.Fprintf(out, ", %d of them to buyers without an account to check", a.NotAsked)
	}
	out.WriteString("\n")
	if len(a.Buyers) > 0 {
		columns(out, func(row func(...any)) {
			row("", "pings", "a second", "bids", "sold", "accepted", "missing", "payout", "owes")
			for _, b := range a.Buyers[:min(mostRows, len(a.Buyers))] {
				row(b.ID, b.Pings, b.PeakPings, b.Bids, b.Sold, b.Taken, b.Missing, b.Money, b.Owes)
			}
		})
		if more := len(a.Buyers) - mostRows; more > 0 {
			fmt.Fprintf(out, "and %d more buyers\n", more)
		}
	}
	if h := a.Webhooks; h != nil {
		fmt.Fprintf(out, "%d of %d expected webhooks received, the last %s after the last answer; %d repeated\n", h.Received, h.Expected, load.FormatDuration(h.Within), h.Repeats)
	}
	for _, missing := range a.Unchecked {
		out.WriteString("not checked: " + missing + "\n")
	}
	for _, wrong := range a.Mismatches {
		out.WriteString("mismatch: " + wrong + "\n")
	}
}

func limits(out *strings.Builder, r *trial.Result) {
	out.WriteString("\n")
	for _, l := range r.Limits {
		verdict := "held     "
		if !l.Held {
			verdict = "NOT HELD "
		}
		fmt.Fprintf(out, "%s %s: %s, at most %s\n", verdict, l.What, l.Got, l.Most)
	}
	if text := Refusals(r); text != "" {
		out.WriteString("\n" + text)
	}
}
