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
	rows  []R
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

// find returns the index entry and the row's position, or false.
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
		if *P(&t.rows[position]).key() == *key {
			return entry, position, true
		}
	}
	return 0, 0, false
}

// get returns the row, or nil where there is none that is good at now.
func (t *table[R, P]) get(key *[16]byte, now uint32) P {
	_, position, ok := t.find(key)
	if !ok || P(&t.rows[position]).expires() <= now {
		return nil
	}
	return &t.rows[position]
}

// put adds a row or replaces the one with its key, and sweeps a little.
func (t *table[R, P]) put(value *R, now uint32) {
	t.sweep(now)
	if len(t.rows) == cap(t.rows) {
		t.grow()
	}
	t.rows = append(t.rows, *value) // at once: a value whose methods are called here would move to the heap
	last := len(t.rows) - 1
	added := P(&t.rows[last])
	t.sum += added.digest()
	if last == 0 {
		t.cursor, t.soonest, t.passed = 0, added.expires(), added.expires()
	}
	t.soonest, t.passed = min(t.soonest, added.expires()), min(t.passed, added.expires())
	if _, position, ok := t.find(added.key()); ok {
		t.sum -= P(&t.rows[position]).digest()
		t.rows[position] = t.rows[last]
		t.rows = t.rows[:last]
		return
	}
	if len(t.rows)*4 > len(t.index)*3 {
		t.reindex(max(8, 2*len(t.index)))
	} else {
		t.link(last)
	}
}

// grow makes room for an eighth more rows. Left to itself append doubles a slab
// of a shard's size, and memory for leads is what an exchange has least of.
func (t *table[R, P]) grow() {
	room := append([]R(nil), make([]R, len(t.rows)+max(8, len(t.rows)/8))...)
	t.rows = room[:copy(room, t.rows)]
}

// change lets edit rewrite the row with this key; false where there is none.
func (t *table[R, P]) change(key *[16]byte, edit func(P)) bool {
	_, position, ok := t.find(key)
	if !ok {
		return false
	}
	found := P(&t.rows[position])
	t.sum -= found.digest()
	edit(found)
	t.sum += found.digest()
	return true
}

// link enters the row at position, which is not yet reachable.
func (t *table[R, P]) link(position int) {
	mask := uint32(len(t.index) - 1)
	key := P(&t.rows[position]).key()
	entry := t.home(key)
	for t.index[entry] != 0 {
		entry = (entry + 1) & mask
	}
	t.index[entry] = t.tag(key) | uint32(position+1)
}

func (t *table[R, P]) reindex(size int) {
	t.index = make([]uint32, size)
	for position := range t.rows {
		t.link(position)
	}
}

// sweep removes what has expired among the next few rows.
func (t *table[R, P]) sweep(now uint32) {
	for range min(sweepStep, len(t.rows)) {
		if t.cursor >= len(t.rows) {
			t.cursor, t.soonest, t.passed = 0, t.passed, math.MaxUint32
		}
		if now < t.soonest {
			return
		}
		if expires := P(&t.rows[t.cursor]).expires(); expires > now {
			t.passed = min(t.passed, expires)
			t.cursor++
			continue
		}
		t.remove(t.cursor)
		if len(t.rows) == 0 {
			return
		}
	}
}

// remove takes the row at position out; the last row takes its place.
func (t *table[R, P]) remove(position int) {
	gone := P(&t.rows[position])
	t.sum -= gone.digest()
	entry, _, ok := t.find(gone.key())
	if !ok {
		panic("BUG: a row that its index does not reach")
	}
	t.unlink(entry)
	last := len(t.rows) - 1
	if position != last {
		moved := P(&t.rows[last])
		entry, _, ok = t.find(moved.key())
		if !ok {
			panic("BUG: a row that its index does not reach")
		}
		t.index[entry] = t.tag(moved.key()) | uint32(position+1)
		t.passed = min(t.passed, moved.expires())
		t.rows[position] = t.rows[last]
	}
	t.rows = t.rows[:last]
	if cap(t.rows) > 64 && len(t.rows) < cap(t.rows)/4 {
		t.rows = append(make([]R, 0, 2*len(t.rows)), t.rows...)
		t.reindex(max(8, len(t.index)/2))
	}
}

// unlink frees an entry and moves the following ones up, so that none is cut
// off from its home.
func (t *table[R, P]) unlink(entry uint32) {
	mask := uint32(len(t.index) - 1)
	hole := entry
	for next := (hole + 1) & mask; t.index[next] != 0; next = (next + 1) & mask {
		home := t.home(P(&t.rows[int(t.index[next]&mask)-1]).key())
		if (next-home)&mask >= (next-hole)&mask {
			t.index[hole] = t.index[next]
			hole = next
		}
	}
	t.index[hole] = 0
}
