//go:build linux

package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// table prints the faults and the requests of the run.
func (t *torture) table(out io.Writer, lives int, lost time.Duration) {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "FAULT\tinjected\tsurvived\tno occasion\tmean time\t\n")
	for _, f := range faults {
		r := t.records[f]
		switch {
		case r == nil:
		case r.missing != "":
			fmt.Fprintf(w, "%s\t-\t-\t-\tskipped: %s\t\n", f.name, r.missing)
		default:
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%v\t\n", f.name, r.injected, r.survived, r.noOccasion, mean(r.duration, r.injected+r.noOccasion))
		}
	}
	_ = w.Flush()
	fmt.Fprintln(out)
	w = tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "REQUEST\tin all\tanswers\n")
	for _, kind := range slices.Sorted(maps.Keys(t.tally)) {
		fmt.Fprintf(w, "%s\t%d\t%s\n", kind, t.tally.Of(kind), counts(t.tally[kind]))
	}
	_ = w.Flush()
	fmt.Fprintf(out, "\n%d rounds in %v; %d starts of the exchange, %v of downtime\n",
		t.rounds, time.Since(t.began).Round(time.Second), lives, lost.Round(100*time.Millisecond))
}

func mean(sum time.Duration, n int) time.Duration {
	return (sum / time.Duration(max(1, n))).Round(time.Millisecond)
}

// counts lists answers, the most frequent first.
func counts(answers map[string]int) string {
	names := slices.SortedFunc(maps.Keys(answers), func(a, b string) int {
		return cmp.Or(cmp.Compare(answers[b], answers[a]), cmp.Compare(a, b))
	})
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = fmt.Sprintf("%s %d", name, answers[name])
	}
	return strings.Join(all, ", ")
}
