package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// figures are counts and durations of a run.
type figures struct {
	leads, sold, unsold, returned int64
	lostLeads                     int64 // the partition was down, or crashed before they were durable
	leadsThatWaited               int64
	crashes                       int64
	gaveUp                        int64 // waits without an answer
	refusals                      int64 // of offers to a buyer, by a shared resource
	recallsWithoutAnswer          int64
	waitsBeforeSale               []int64 // nanoseconds
	waitsBeforeRefusal            []int64
	recalls                       []int64
}

// stranded returns the part of the limits of exhausted windows that is unused at the end, although leads wanted
// it. A window is exhausted if it refused a lead.
func (s *simulation) stranded() (share, worst float64, exhausted int) {
	var sum, limits float64
	for _, key := range s.audit.sortedWindows() {
		w := s.audit.windows[key]
		if w.refusals == 0 || w.limit == 0 {
			continue
		}
		exhausted++
		unused := min(w.limit-w.sold, w.refused)
		if w.refused == 0 || unused < w.least { // too little for any of the refused leads
			unused = 0
		}
		part := float64(unused) / float64(w.limit)
		sum += part
		limits++
		worst = max(worst, part)
	}
	return sum / max(1, limits), worst, exhausted
}

func (s *simulation) report(out io.Writer, took time.Duration) {
	f := &s.figures
	share, worst, exhausted := s.stranded()
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
	line("policy %s, seed %d: %d leads in %s of virtual time, computed in %s", s.policy.name, s.Seed, f.leads,
		time.Duration(s.end-s.start).Round(time.Second), took.Round(100*time.Millisecond))
	line("  sold %d, unsold %d, returned %d, lost in %d crashes %d", f.sold, f.unsold, f.returned, f.crashes, f.lostLeads)
	line("  overrun %d, findings of the audit %d", s.audit.overrun, len(s.audit.faults))
	line("  stranded: mean %.3f %%, worst %.1f %% of %d exhausted windows", 100*share, 100*worst, exhausted)
	line("  offers refused by a shared cap or account %d, %d of them after %s without an answer", f.refusals, f.gaveUp, s.MaxWait)
	line("  messages per lead %.3f (ask %d, answer %d, recall %d, give back %d, available %d; lost %d)",
		float64(s.network.total())/float64(f.leads), s.network.sent[kindAsk], s.network.sent[kindAnswer], s.network.sent[kindRecall],
		s.network.sent[kindGiveBack], s.network.sent[kindAvailable], s.network.lost)
	line("  recalls %d, %s; holders without an answer %d", len(f.recalls), percentiles(f.recalls), f.recallsWithoutAnswer)
	line("  leads that waited %.3f %%; before a sale %d, %s; before a refusal %d, %s", 100*float64(f.leadsThatWaited)/float64(f.leads),
		len(f.waitsBeforeSale), percentiles(f.waitsBeforeSale), len(f.waitsBeforeRefusal), percentiles(f.waitsBeforeRefusal))
	for _, fault := range s.audit.faults {
		line("  FOUND: %s", fault)
	}
}

// percentiles returns the median, the 99th percentile and the maximum.
func percentiles(nanos []int64) string {
	if len(nanos) == 0 {
		return "p50/p99/max -"
	}
	sorted := slices.Sorted(slices.Values(nanos))
	at := func(percent int) float64 { return float64(sorted[(len(sorted)-1)*percent/100]) / 1e6 }
	return fmt.Sprintf("p50/p99/max %.1f/%.1f/%.1f ms", at(50), at(99), at(100))
}
