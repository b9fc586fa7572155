//go:build unix

package history

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
)

// tally counts the histories and operations with one fault.
type tally struct{ histories, violated, operations, unknown int }

// outcomes counts the operations by kind and result.
type outcomes map[string]int

func (n outcomes) add(all []operation) {
	for i := range all {
		n[all[i].outcome()]++
	}
}

// outcome returns the kind of an operation and its result.
func (o *operation) outcome() string {
	switch {
	case !o.isKnown:
		return string(o.kind) + ": unknown"
	case o.Error != "":
		return string(o.kind) + ": " + o.Error
	case o.Data.Reason != "":
		return string(o.kind) + ": " + o.Data.Reason
	case o.replayed:
		return string(o.kind) + ": replayed"
	}
	return string(o.kind) + ": " + strconv.Itoa(o.status)
}

func (n *tally) add(all []operation, valid bool) {
	n.histories++
	if !valid {
		n.violated++
	}
	n.operations += len(all)
	for i := range all {
		if !all[i].isKnown {
			n.unknown++
		}
	}
}

func formatTable(table map[string]*tally) string {
	var text strings.Builder
	out := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "fault\thistories\twith a violation\toperations\twithout a result")
	var sum tally
	for _, f := range faults {
		n := table[f.name]
		if n == nil {
			continue
		}
		fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%d\n", f.name, n.histories, n.violated, n.operations, n.unknown)
		sum = tally{sum.histories + n.histories, sum.violated + n.violated, sum.operations + n.operations, sum.unknown + n.unknown}
	}
	fmt.Fprintf(out, "all\t%d\t%d\t%d\t%d\n", sum.histories, sum.violated, sum.operations, sum.unknown)
	_ = out.Flush()
	return text.String()
}
