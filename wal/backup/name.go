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

// sizeAndSum ends the name of an immutable object.
type sizeAndSum struct {
	size int64  // stored size
	sum  string // of the content; see sum
}

func (s sizeAndSum) String() string { return fmt.Sprintf("%d-%s", s.size, s.sum) }

// parseSizeAndSum parses the end of a name and compares the size with the listing.
func parseSizeAndSum(o store.Object, size, sum string) (sizeAndSum, bool) {
	n, err := strconv.ParseInt(size, 10, 64)
	return sizeAndSum{n, sum}, err == nil && n == o.Size && len(sum) == sumDigits
}

// extent is one log object: its range of entries and the time of the last one.
type extent struct {
	name        string
	first, last uint64
	at          int64 // unix nanoseconds
	sizeAndSum
}

func extentName(folder string, first, last uint64, at int64) string {
	return fmt.Sprintf("%s/log/%020d-%020d-%019d-", folder, first, last, at)
}

// parseExtent parses the name of a complete log object.
func parseExtent(o store.Object) (e extent, ok bool) {
	pieces := strings.Split(path.Base(o.Name), "-")
	if len(pieces) != 5 {
		return e, false
	}
	first, err1 := strconv.ParseUint(pieces[0], 10, 64)
	last, err2 := strconv.ParseUint(pieces[1], 10, 64)
	at, err3 := strconv.ParseInt(pieces[2], 10, 64)
	s, ok := parseSizeAndSum(o, pieces[3], pieces[4])
	ok = ok && err1 == nil && err2 == nil && err3 == nil && first > 0 && first <= last
	return extent{o.Name, first, last, at, s}, ok
}

// contiguousObjects is a sequence of log objects without a gap: each object begins at most one
// entry after the previous end, and ends later.
type contiguousObjects []extent

func (r contiguousObjects) first() uint64 { return r[0].first }

func (r contiguousObjects) last() uint64 { return r[len(r)-1].last }

func (r contiguousObjects) lastAt() int64 { return r[len(r)-1].at }

// covers reports whether the run contains an entry.
func (r contiguousObjects) covers(seq uint64) bool { return r.first() <= seq && seq <= r.last() }

// indexOf returns the index of the object with entry seq, which the run must cover.
func (r contiguousObjects) indexOf(seq uint64) int {
	i, _ := slices.BinarySearchFunc(r, seq, func(e extent, seq uint64) int { return cmp.Compare(e.last, seq) })
	return i
}

// runs selects from overlapping objects the fewest that cover the same entries, because
// small objects can remain after a merged object replaced them. A complete log is one
// run.
func runs(extents []extent) []contiguousObjects {
	slices.SortFunc(extents, func(a, b extent) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(b.last, a.last), cmp.Compare(a.name, b.name))
	})
	var found []contiguousObjects
	for i := 0; i < len(extents); {
		r := contiguousObjects{extents[i]}
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

// nameBelow returns the part of a name below a folder.
func nameBelow(name, folder string) (string, bool) { return strings.CutPrefix(name, folder+"/") }
