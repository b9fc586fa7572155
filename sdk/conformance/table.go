package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// report prints one line per theme, and the failed cases below.
func report(out io.Writer, sdk string, verdicts []caseResult) (passed bool) {
	type count struct{ held, failed, over int }
	counts, order := map[string]*count{}, []string{}
	for _, v := range verdicts {
		c := counts[v.theme]
		if c == nil {
			c = &count{}
			counts[v.theme] = c
			order = append(order, v.theme)
		}
		switch {
		case v.skipReason != "":
			c.over++
		case len(v.wrong) > 0:
			c.failed++
		default:
			c.held++
		}
	}
	fmt.Fprintf(out, "sdk/%s\n", sdk)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "theme\theld\tfailed\tpassed over\t")
	total := count{}
	for _, name := range order {
		c := counts[name]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t\n", name, c.held, c.failed, c.over)
		total.held, total.failed, total.over = total.held+c.held, total.failed+c.failed, total.over+c.over
	}
	fmt.Fprintf(table, "all\t%d\t%d\t%d\t\n", total.held, total.failed, total.over)
	_ = table.Flush()
	for _, v := range verdicts {
		if v.skipReason != "" {
			fmt.Fprintf(out, "passed over: %s: %s (%s)\n", v.theme, v.name, v.skipReason)
		}
		if len(v.wrong) > 0 {
			fmt.Fprintf(out, "FAILED %s: %s\n    %s\n", v.theme, v.name, strings.Join(v.wrong, "\n    "))
		}
	}
	return total.failed == 0 && total.held > 0
}
