package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"golang.org/x/perf/benchunit"
)

// table says what changed, and then all that was compared.
func (all comparisons) table(base string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "The working tree against %s, %d figures: %d slower, %d faster, %d without a difference that could be found.\n\n",
		base, len(all), all.count(slower), all.count(faster), all.count(same))
	w := tabwriter.NewWriter(&s, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "VERDICT\tPACKAGE\tBENCHMARK\tUNIT\tBASE\tHEAD\tCHANGE\tP")
	for _, v := range []verdict{slower, faster, same} {
		for i := range all {
			if all[i].verdict == v {
				all[i].line(w)
			}
		}
	}
	if err := w.Flush(); err != nil {
		panic("BUG: a string cannot be written to: " + err.Error())
	}
	return s.String()
}

func (c *comparison) line(w *tabwriter.Writer) {
	word := string(c.verdict)
	if c.verdict == same {
		word = "~"
	}
	class := benchunit.ClassOf(c.unit)
	scale := benchunit.CommonScale([]float64{c.before.Center, c.now.Center}, class)
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s %s\t%s %s\t%+.1f %%\t%.4f\n", word, c.pkg, c.name, c.unit,
		scale.Format(c.before.Center), c.before.PctRangeString(), scale.Format(c.now.Center), c.now.PctRangeString(), 100*c.change(), c.p)
}
