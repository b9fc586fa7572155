package backup

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"pingpost/wal/backup/store"
)

// A stamp ends the name of an object that never changes.
type stamp struct {
	size int64  // as it is stored
	sum  string // of what was put: box.sum
}

func (s stamp) String() string { return fmt.Sprintf("%d-%s", s.size, s.sum) }

// parseStamp reads the end of a name, and holds it against what the listing says.
func parseStamp(o store.Object, size, sum string) (stamp, bool) {
	n, err := strconv.ParseInt(size, 10, 64)
	return stamp{n, sum}, err == nil && n == o.Size && len(sum) == sumDigits
}

// An extent is one log object: its entries, and the time of the last of them.
type extent struct {
	name        string
	first, last uint64
	at          int64 // unix nanoseconds
	stamp
}

func extentName(folder string, first, last uint64, at int64) string {
	return fmt.Sprintf("%s/log/%020d-%020d-%019d-", folder, first, last, at)
}

// parseExtent reads the name of a whole log object.
func parseExtent(o store.Object) (e extent, ok bool) {
	pieces := strings.Split(path.Base(o.Name), "-")
	if len(pieces) != 5 {
		return e, false
	}
	first, err1 := strconv.ParseUint(pieces[0], 10, 64)
	last, err2 := strconv.ParseUint(pieces[1], 10, 64)
	at, err3 := strconv.ParseInt(pieces[2], 10, 64)
	s, ok := parseStamp(o, pieces[3], pieces[4])
	ok = ok && err1 == nil && err2 == nil && err3 == nil && first > 0 && first <= last
	return extent{o.Name, first, last, at, s}, ok
}

// A run is log objects without a gap: each begins at or before the entry after
// the one before it, and reaches further.
type run []extent

func (r run) first() uint64 { return r[0].first }
func (r run) last() uint64  { return r[len(r)-1].last }
func (r run) lastAt() int64 { return r[len(r)-1].at }

// covers tells whether the run has an entry.
func (r run) covers(seq uint64) bool { return r.first() <= seq && seq <= r.last() }

// holding is the index of the object that has entry seq, which the run covers.
func (r run) holding(seq uint64) int {
	i, _ := slices.BinarySearchFunc(r, seq, func(e extent, seq uint64) int { return cmp.Compare(e.last, seq) })
	return i
}

// runs picks, of objects that may overlap, the fewest that cover as much: where a
// larger one has taken the place of small ones, those may still be there. A whole
// log is one run.
func runs(extents []extent) []run {
	slices.SortFunc(extents, func(a, b extent) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(b.last, a.last), cmp.Compare(a.name, b.name))
	})
	var found []run
	for i := 0; i < len(extents); {
		r := run{extents[i]}
		for i++; ; {
			best := -1
			for ; i < len(extents) && extents[i].first <= r.last()+1; i++ {
				if extents[i].last > r.last() && (best < 0 || extents[i].last > extents[best].last) {
					best = i
				}
			}
			if best < 0 {
				break
			}
			r = append(r, extents[best])
		}
		found = append(found, r)
	}
	return found
}

// rest is what a name has below a folder.
func rest(name, folder string) (string, bool) { return strings.CutPrefix(name, folder+"/") }
