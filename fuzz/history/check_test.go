//go:build unix

package history

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// checkTimeout limits the search for a sequence. A search that takes longer counts as a violation.
const checkTimeout = 60 * time.Second

// models are the specifications, each with the function that selects its operations.
var models = []struct {
	name       string
	model      *porcupine.Model
	operations func([]operation) []operation
}{
	{"key", &keyModel, keyOperations},
	{"person", &personModel, personOperations},
	{"budget", &budgetModel, budgetOperations},
	{"auction", &auctionModel, auctionOperations},
	{"lead", &leadModel, leadOperations},
}

// partitionBy returns a function that divides a history by a name in the requests.
func partitionBy(nameOf func(*request) string) func([]porcupine.Operation) [][]porcupine.Operation {
	return func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		index := map[string]int{}
		for _, o := range history {
			name := nameOf(o.Input.(*request))
			at, known := index[name]
			if !known {
				at = len(parts)
				index[name] = at
				parts = append(parts, nil)
			}
			parts[at] = append(parts[at], o)
		}
		return parts
	}
}

func describeStep(input, output any) string {
	r, a := input.(*request), output.(*answer)
	switch {
	case !a.isKnown:
		return r.describe() + " -> unknown"
	case r.kind == readBudget:
		return fmt.Sprintf("read -> %d left", a.left)
	}
	return fmt.Sprintf("%s -> %d %s", r.describe(), a.status, cmp.Or(a.Error, strings.TrimSpace(a.Data.Status+" "+a.Data.Reason+" "+a.Data.Buyer)))
}

// forPorcupine converts operations. An operation without a clear result ends after all others.
func forPorcupine(all []operation) []porcupine.Operation {
	last := int64(0)
	for i := range all {
		if o := &all[i]; o.isKnown {
			last = max(last, o.end)
		}
		last = max(last, all[i].call)
	}
	converted := make([]porcupine.Operation, len(all))
	var used rows
	for i := range all {
		o := &all[i]
		end := o.end
		if !o.isKnown {
			end = last + 1
		}
		converted[i] = porcupine.Operation{ClientId: used.add(o.call, end), Input: &o.request, Output: &o.answer, Call: o.call, Return: end, Metadata: o.String()}
	}
	return converted
}

// rows are the rows of a visualization, with the end of the last operation in each. The operations of one row
// must not overlap, but merged and unknown operations of one client do.
type rows []int64

func (r *rows) add(call, end int64) int {
	for i, last := range *r {
		if last < call {
			(*r)[i] = end
			return i
		}
	}
	*r = append(*r, end)
	return len(*r) - 1
}

// checkHistory reports the parts of a history that no sequence explains, and whether there is none. It writes
// a page with the visualization of each of them into the folder.
func checkHistory(t testing.TB, folder, name string, all []operation) (valid bool) {
	t.Helper()
	valid = true
	for _, m := range models {
		selected := forPorcupine(m.operations(all))
		if porcupine.CheckOperationsTimeout(*m.model, selected, checkTimeout) == porcupine.Ok {
			continue
		}
		valid = false
		for i, part := range m.model.Partition(selected) {
			result, info := porcupine.CheckOperationsVerbose(*m.model, part, checkTimeout)
			if result == porcupine.Ok {
				continue
			}
			path := filepath.Join(folder, fmt.Sprintf("%s-%s-%d.html", name, m.name, i))
			if err := porcupine.VisualizePath(*m.model, info, path); err != nil {
				t.Error(err)
			}
			reportPart(t, m.name, result, path, part)
		}
	}
	return valid
}

// maxLines is the number of operations that a report shows.
const maxLines = 120

func reportPart(t testing.TB, model string, result porcupine.CheckResult, path string, part []porcupine.Operation) {
	t.Helper()
	slices.SortStableFunc(part, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	lines := make([]string, 0, len(part))
	for i := range part {
		lines = append(lines, part[i].Metadata.(string))
	}
	text := strings.Join(lines[:min(len(lines), maxLines)], "\n")
	if err := os.WriteFile(strings.TrimSuffix(path, ".html")+".txt", []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Error(err)
	}
	t.Errorf("%s model: %s: no sequence of these %d operations gives their answers (%s):\n%s", model, result, len(part), path, text)
}
