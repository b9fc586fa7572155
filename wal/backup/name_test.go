package backup

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pingpost/wal/backup/store"
)

// groupContiguous covers the same entries as a simple count.
func TestRunsCoverWhatThereIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var extents []logObject
		var there [60]bool
		for i := range rapid.IntRange(0, 12).Draw(t, "objects") {
			first := rapid.IntRange(1, 40).Draw(t, "first")
			last := first + rapid.IntRange(0, 15).Draw(t, "length")
			extents = append(extents, logObject{name: fmt.Sprint(i), first: uint64(first), last: uint64(last)})
			for seq := first; seq <= last; seq++ {
				there[seq] = true
			}
		}
		found := groupContiguous(extents)
		var covered [60]bool
		due := uint64(0)
		for i, r := range found {
			if i > 0 && r.firstEntry() <= found[i-1].lastEntry()+1 {
				t.Fatalf("two runs are one: %v", found)
			}
			for j, e := range r {
				if j > 0 && (e.first > r[j-1].last+1 || e.last <= r[j-1].last) {
					t.Fatalf("%v does not follow from %v", e, r[j-1])
				}
				if j > 1 && e.first <= r[j-2].last+1 {
					t.Fatalf("%v is not needed between %v and %v", r[j-1], r[j-2], e)
				}
				for due = max(due+1, e.first); due <= e.last; due++ {
					covered[due] = true
					if !r.coversEntry(due) || r[r.indexOfFirstObjectReaching(due)].first > due || r[r.indexOfFirstObjectReaching(due)].last < due {
						t.Fatalf("entry %d is not held in %v", due, r)
					}
				}
				due = e.last
			}
		}
		if covered != there {
			t.Fatalf("covered are %v of %v", covered, there)
		}
	})
}

// parseLogObjectName parses the names of complete objects only.
func TestNames(t *testing.T) {
	st := sizeAndChecksum{33, strings.Repeat("a", sumDigits)}
	name := logObjectPrefix(generationFolder(2), 7, 9, -5) + st.String()
	if _, ok := parseLogObjectName(store.Object{Name: name, Size: 33}); ok {
		t.Error("a time before 1970 was taken")
	}
	name = logObjectPrefix(generationFolder(2), 7, 9, 5) + st.String()
	e, ok := parseLogObjectName(store.Object{Name: name, Size: 33})
	if !ok || e.first != 7 || e.last != 9 || e.at != 5 || e.sizeAndChecksum != st || e.name != name {
		t.Errorf("%s: %+v, %v", name, e, ok)
	}
	for what, o := range map[string]store.Object{
		"half of it":     {Name: name, Size: 32},
		"too few pieces": {Name: strings.Replace(name, "-", "_", 1), Size: 33},
		"a short sum":    {Name: name[:len(name)-1], Size: 33},
		"backwards":      {Name: logObjectPrefix(generationFolder(2), 9, 7, 5) + st.String(), Size: 33},
		"no entry":       {Name: logObjectPrefix(generationFolder(2), 0, 7, 5) + st.String(), Size: 33},
	} {
		if e, ok := parseLogObjectName(o); ok {
			t.Errorf("%s was taken: %+v", what, e)
		}
	}
	for name, safe := range map[string]bool{
		"leads/1": true, "exchange.key": true, "": false, "../x": false, "a/../../x": false, "/etc/x": false, "a//b": false, `a\b`: false, ".": false,
	} {
		if staysInsideFolder(name) != safe {
			t.Errorf("%q is safe: %v", name, !safe)
		}
	}
}
