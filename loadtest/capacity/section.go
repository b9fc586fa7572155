package main

import (
	"fmt"
	"math"
	"strings"
)

// coresOf are the nodes that are told.
var coresOf = []float64{2, 8, 32}

// section is the README's, without its marks.
func section(machine []string, works []work, m *measured, a *assumptions) string {
	var s strings.Builder
	fmt.Fprintf(&s, "Computed by `make capacity` from the last `make bench` (%s).\n\n", strings.Join(machine[:min(1, len(machine))], ""))
	s.WriteString("| a second, by one node of | 2 cores | 8 cores | 32 cores | what ends it at 32 |\n|---|---|---|---|---|\n")
	for i := range works {
		fmt.Fprintf(&s, "| %s |", works[i].name)
		var last carried
		for _, cores := range coresOf {
			last = a.carries(&works[i], m, cores)
			fmt.Fprintf(&s, " %s |", rounded(last.perSecond))
		}
		fmt.Fprintf(&s, " %s |\n", last.limit)
	}
	s.WriteString("| leads that its memory holds |")
	for _, cores := range coresOf {
		c := a.carries(&works[0], m, cores)
		fmt.Fprintf(&s, " %s, %s a second for %.0f days |", millions(c.held), rounded(c.heldRate), a.days)
	}
	s.WriteString(" |\n\n| a million | core seconds | log | memory | USD |\n|---|---|---|---|---|\n")
	for i := range works {
		cost := a.costs(&works[i], m)
		fmt.Fprintf(&s, "| %s | %.0f | %.2f GB | %.2f GB | %.3f |\n", works[i].name, cost.coreSeconds, cost.logGigabytes, cost.memoryGigabytes, cost.dollars)
	}
	s.WriteString("\n" + a.words(m))
	return s.String()
}

// words say what was measured and what was not.
func (a *assumptions) words(m *measured) string {
	return fmt.Sprintf(`Measured: the processor time and the bytes of each kind of lead, the committer alone
(%s entries a second), the memory of a lead (%.0f bytes). Not measured, and to be put
in place of by your own: that a lead costs as much on each of n cores as on one; a disk
of %.0f MB a second, on which the log's bytes are written %.0f times with the snapshots; a
network of %.0f Gbit; %.0f GB of memory a core; %.2f USD a core hour and %.2f USD a gigabyte
of disk a month, the log kept for %.0f days. %.0f %% of each are planned with. The next
limit past one node is the committer: a second exchange takes other campaigns, or other
suppliers, with a log of its own.
`, rounded(m.committer), m.memory, a.diskBytes/1e6, a.rewritten, a.netBits/1e9, a.coreMemory/1e9, a.coreHour, a.gigaMonth, a.historyDays, 100*a.use)
}

// rounded is a figure to two digits: more would claim what a model does not know.
func rounded(x float64) string {
	if x <= 0 || math.IsInf(x, 0) {
		return "-"
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	if x < 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return grouped(math.Round(x/unit) * unit)
}

func millions(x float64) string { return rounded(x/1e6) + " million" }

// grouped writes thousands apart.
func grouped(x float64) string {
	digits := fmt.Sprintf("%.0f", x)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
