//go:build unix

package history

import (
	"cmp"
	"slices"
)

// mergeKeys returns one operation for all attempts of a request under its key: from the first attempt to
// the first answer. Operations without a key are unchanged.
func mergeKeys(all []operation) []operation {
	return mergeBy(all, func(o *operation) string { return o.key })
}

// mergeUnknown merges the attempts of a request under its key that have no clear result. The request
// takes effect at most once, so one operation that begins with the first of them allows the same
// histories. It saves the search from trying all subsets.
func mergeUnknown(all []operation) []operation {
	return mergeBy(all, func(o *operation) string {
		if o.isKnown {
			return ""
		}
		return o.describe()
	})
}

// mergeBy merges the operations of one name. Those with the name "" are unchanged.
func mergeBy(all []operation, nameOf func(*operation) string) (merged []operation) {
	index := map[string]int{}
	for i := range all {
		o := &all[i]
		name := nameOf(o)
		at, known := index[name]
		if name == "" || !known {
			index[name] = len(merged)
			merged = append(merged, *o)
			continue
		}
		m := &merged[at]
		first := min(m.call, o.call)
		if o.end < m.end {
			*m = *o
		}
		m.call = first
	}
	slices.SortStableFunc(merged, func(a, b operation) int { return cmp.Compare(a.call, b.call) })
	return merged
}

// selectOperations returns the operations that the function accepts.
func selectOperations(all []operation, is func(*operation) bool) (selected []operation) {
	for i := range all {
		if is(&all[i]) {
			selected = append(selected, all[i])
		}
	}
	return selected
}
