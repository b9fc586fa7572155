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

// sizeAndChecksum is the last part of an immutable object's name: the object's stored size and the
// checksum of its plaintext.
type sizeAndChecksum struct {
	size int64  // stored size
	sum  string // of the content; see sum
}

func (s sizeAndChecksum) String() string { return fmt.Sprintf("%d-%s", s.size, s.sum) }

// parseSizeAndChecksum parses the size and the checksum from the end of an object's name. It
// returns false if they are malformed. It also returns false if the name's size differs from
// the listed size, because the object is then incomplete.
func parseSizeAndChecksum(o store.Object, size, sum string) (sizeAndChecksum, bool) {
	n, err := strconv.ParseInt(size, 10, 64)
	return sizeAndChecksum{n, sum}, err == nil && n == o.Size && len(sum) == sumDigits
}

// logObject is an object in the store with a range of log entries, as described by its name.
// `at` is the time of the last entry.
type logObject struct {
	name        string
	first, last uint64
	at          int64 // unix nanoseconds
	sizeAndChecksum
}

func logObjectPrefix(folder string, first, last uint64, at int64) string {
	return fmt.Sprintf("%s/log/%020d-%020d-%019d-", folder, first, last, at)
}

// parseLogObjectName parses the name of a log object. ok is false if o is not a log object or
// is incomplete.
func parseLogObjectName(o store.Object) (e logObject, ok bool) {
	pieces := strings.Split(path.Base(o.Name), "-")
	if len(pieces) != 5 {
		return e, false
	}
	first, err1 := strconv.ParseUint(pieces[0], 10, 64)
	last, err2 := strconv.ParseUint(pieces[1], 10, 64)
	at, err3 := strconv.ParseInt(pieces[2], 10, 64)
	s, ok := parseSizeAndChecksum(o, pieces[3], pieces[4])
	ok = ok && err1 == nil && err2 == nil && err3 == nil && first > 0 && first <= last
	return logObject{o.Name, first, last, at, s}, ok
}

// contiguousObjects is a series (run) of log objects without a gap between their entries.
// Each object begins at most one entry after the end of the previous one, and ends later.
type contiguousObjects []logObject

func (r contiguousObjects) firstEntry() uint64 { return r[0].first }

func (r contiguousObjects) lastEntry() uint64 { return r[len(r)-1].last }

func (r contiguousObjects) lastEntryTime() int64 { return r[len(r)-1].at }

// coversEntry reports whether the run contains entry seq.
func (r contiguousObjects) coversEntry(seq uint64) bool {
	return r.firstEntry() <= seq && seq <= r.lastEntry()
}

// indexOfFirstObjectReaching returns the index of the first object that reaches entry seq, which the run
// must contain.
func (r contiguousObjects) indexOfFirstObjectReaching(seq uint64) int {
	i, _ := slices.BinarySearchFunc(r, seq, func(e logObject, seq uint64) int { return cmp.Compare(e.last, seq) })
	return i
}

// groupContiguous sorts the log objects of a generation into runs without gaps; a complete
// log is one run. Of overlapping objects it selects the fewest that cover the same entries.
// Overlaps arise if small objects remain after one merged object replaced them.
func groupContiguous(objects []logObject) []contiguousObjects {
	slices.SortFunc(objects, func(a, b logObject) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(b.last, a.last), cmp.Compare(a.name, b.name))
	})
	var found []contiguousObjects
	for i := 0; i < len(objects); {
		r := contiguousObjects{objects[i]}
		for i++; ; {
			best := -1
			for ; i < len(objects) && objects[i].first <= r.lastEntry()+1; i++ {
				if objects[i].last > r.lastEntry() && (best < 0 || objects[i].last > objects[best].last) {
					best = i
				}
			}
			if best < 0 {
				break
			}
			r = append(r, objects[best])
		}
		found = append(found, r)
	}
	return found
}

// nameBelowFolder returns the rest of a name after the folder and a slash. It returns false
// if the name is not below the folder.
func nameBelowFolder(name, folder string) (string, bool) { return strings.CutPrefix(name, folder+"/") }
