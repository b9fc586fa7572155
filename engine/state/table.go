package state

import (
	"encoding/binary"
	"math"
)

// A row is a fixed-size value without pointers, found by a key of 16 bytes
// whose bytes are spread evenly (random, or a hash), and forgotten after a time.
type row[R any] interface {
	*R
	key() *[16]byte
	expires() uint32 // Unix seconds
	digest() uint64  // a hash of all of it
}

// table keeps rows in a slab with an open-addressed index over it.
//
// Invariants: index has a power of two of entries, at most 3/4 of them taken;
// an entry is zero or names a row; every row is reachable from
// its key's home entry without crossing a zero; sum is the sum of all digests.
//
// Rows that have expired are swept by put, a few each time, from a cursor that
// wanders over the slab: which rows are gone is then a matter of the sequence of
// facts alone, and the same in replay. A row that has expired and was not swept
// yet is not found. (Rejected: Go's maps, which cost twice the memory for these
// rows, and an expiry queue beside the slab, which costs eight bytes a row.)
//
// A table is guarded by its shard's lock; a pointer that get returns is good
// while that is held.
type table[R any, P row[R]] struct {
	rows  slab[R]
	index []uint32
	sum   uint64

	cursor  int    // of the sweep
	soonest uint32 // nothing expires before it, so until then there is nothing to sweep
	passed  uint32 // the soonest expiry among rows that this pass of the sweep is done with, or that came meanwhile
}

// sweepStep is how many rows a put looks at. More than one, so that a table
// whose rows all expire is emptied faster than it fills.
const sweepStep = 2

// An index entry holds a row's position plus one in as many low bits as the
// index needs for it, and above them a tag of the row's key: so a search looks
// at hardly any row but the one it wants, and each look is a cache miss.

// tag is the upper part of the key's entries.
func (t *table[R, P]) tag(key *[16]byte) uint32 {
	return binary.LittleEndian.Uint32(key[4:8]) &^ uint32(len(t.index)-1)
}

// home is the index entry at which the search for key begins. Shards are chosen
// by the key's last two bytes, so these are left out.
func (t *table[R, P]) home(key *[16]byte) uint32 {
	return binary.LittleEndian.Uint32(key[8:12]) & uint32(len(t.index)-1)
}

// find returns the index entry and the row's position; or false, and the entry
// where the key would go.
func (t *table[R, P]) find(key *[16]byte) (entry uint32, position int, ok bool) {
	if len(t.index) == 0 {
		return 0, 0, false
	}
	mask, tag := uint32(len(t.index)-1), t.tag(key)
	for entry = t.home(key); t.index[entry] != 0; entry = (entry + 1) & mask {
		if t.index[entry]&^mask != tag {
			continue
		}
		position = int(t.index[entry]&mask) - 1
		if *P(t.rows.at(position)).key() == *key {
			return entry, position, true
		}
	}
	return entry, 0, false
}

// get returns the row, or nil where there is none that is good at now.
func (t *table[R, P]) get(key *[16]byte, now uint32) P {
	_, position, ok := t.find(key)
	if !ok {
		return nil
	}
	if found := P(t.rows.at(position)); found.expires() > now {
		return found
	}
	return nil
}

// look brings near what a put of key needs: the index where its search begins and
// the place of the next row. What it returns means nothing.
func (t *table[R, P]) look(key *[16]byte) uint32 {
	if len(t.index) == 0 {
		return 0
	}
	t.rows.prepare()
	return t.index[t.home(key)]
}

// put adds a row or replaces the one with its key, and sweeps a little.
func (t *table[R, P]) put(value *R, now uint32) {
	t.sweep(now)
	added := P(t.rows.push(value)) // at once: a value whose methods are called here would move to the heap
	last := t.rows.n - 1
	t.sum += added.digest()
	if last == 0 {
		t.cursor, t.soonest, t.passed = 0, added.expires(), added.expires()
	}
	t.soonest, t.passed = min(t.soonest, added.expires()), min(t.passed, added.expires())
	entry, position, ok := t.find(added.key())
	if ok {
		known := t.rows.at(position)
		t.sum -= P(known).digest()
		*known = *added
		t.rows.pop()
		return
	}
	if t.rows.n*4 > len(t.index)*3 {
		t.reindex(max(8, 2*len(t.index)))
	} else {
		t.index[entry] = t.tag(added.key()) | uint32(last+1)
	}
}

// change lets edit rewrite the row with this key, which may expire at another time
// then; false where there is none.
func (t *table[R, P]) change(key *[16]byte, edit func(P)) bool {
	_, position, ok := t.find(key)
	if !ok {
		return false
	}
	found := P(t.rows.at(position))
	t.sum -= found.digest()
	edit(found)
	t.sum += found.digest()
	t.soonest, t.passed = min(t.soonest, found.expires()), min(t.passed, found.expires())
	return true
}

// link enters the row at position, which is not yet reachable.
func (t *table[R, P]) link(position int) {
	mask := uint32(len(t.index) - 1)
	key := P(t.rows.at(position)).key()
	entry := t.home(key)
	for t.index[entry] != 0 {
		entry = (entry + 1) & mask
	}
	t.index[entry] = t.tag(key) | uint32(position+1)
}

func (t *table[R, P]) reindex(size int) {
	t.index = make([]uint32, size)
	for position := range t.rows.n {
		t.link(position)
	}
}

// sweep removes what has expired among the next few rows.
func (t *table[R, P]) sweep(now uint32) {
	for range min(sweepStep, t.rows.n) {
		if t.cursor >= t.rows.n {
			t.cursor, t.soonest, t.passed = 0, t.passed, math.MaxUint32
		}
		if now < t.soonest {
			return
		}
		if expires := P(t.rows.at(t.cursor)).expires(); expires > now {
			t.passed = min(t.passed, expires)
			t.cursor++
			continue
		}
		t.remove(t.cursor)
		if t.rows.n == 0 {
			return
		}
	}
}

// remove takes the row at position out; the last row takes its place.
func (t *table[R, P]) remove(position int) {
	gone := P(t.rows.at(position))
	t.sum -= gone.digest()
	t.unlink(t.entryOf(gone))
	last := t.rows.n - 1
	if position != last {
		moved := P(t.rows.at(last))
		t.index[t.entryOf(moved)] = t.tag(moved.key()) | uint32(position+1)
		t.passed = min(t.passed, moved.expires())
		*gone = *moved
	}
	t.rows.pop()
	if len(t.index) > 64 && t.rows.n < len(t.index)/8 {
		t.reindex(len(t.index) / 2)
	}
}

// entryOf is the index entry of a row that is in the table.
func (t *table[R, P]) entryOf(known P) uint32 {
	entry, _, ok := t.find(known.key())
	if !ok {
		panic("BUG: a row that its index does not reach")
	}
	return entry
}

// unlink frees an entry and moves the following ones up, so that none is cut
// off from its home.
func (t *table[R, P]) unlink(entry uint32) {
	mask := uint32(len(t.index) - 1)
	hole := entry
	for next := (hole + 1) & mask; t.index[next] != 0; next = (next + 1) & mask {
		home := t.home(P(t.rows.at(int(t.index[next]&mask) - 1)).key())
		if (next-home)&mask >= (next-hole)&mask {
			t.index[hole] = t.index[next]
			hole = next
		}
	}
	t.index[hole] = 0
}
