package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// report prints one line per theme, and the failed cases below.
func report(out io.Writer, sdk string, results []caseResult) (passed bool) {
	type count struct{ passed, failed, skipped int }
	counts, order := map[string]*count{}, []string{}
	for _, v := range results {
		c := counts[v.theme]
		if c == nil {
			c = &count{}
			counts[v.theme] = c
			order = append(order, v.theme)
		}
		switch {
		case v.skipReason != "":
			c.skipped++
		case len(v.wrong) > 0:
			c.failed++
		default:
			c.passed++
		}
	}
	fmt.Fprintf(out, "sdk/%s\n", sdk)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "theme\tpassed\tfailed\tskipped\t")
	total := count{}
	for _, name := range order {
		c := counts[name]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t\n", name, c.passed, c.failed, c.skipped)
		total.passed, total.failed, total.skipped = total.passed+c.passed, total.failed+c.failed, total.skipped+c.skipped
	}
	fmt.Fprintf(table, "all\t%d\t%d\t%d\t\n", total.passed, total.failed, total.skipped)
	_ = table.Flush()
	for _, v := range results {
		if v.skipReason != "" {
			fmt.Fprintf(out, "skipped: %s: %s (%s)\n", v.theme, v.name, v.skipReason)
		}
		if len(v.wrong) > 0 {
			fmt.Fprintf(out, "FAILED %s: %s\n    %s\n", v.theme, v.name, strings.Join(v.wrong, "\n    "))
		}
	}
	return total.failed == 0 && total.passed > 0
}
