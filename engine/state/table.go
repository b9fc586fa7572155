package state

import (
	"encoding/binary"
	"math"
)

// row is a fixed-size value without pointers. Its key has 16 evenly spread bytes (random,
// or a hash), and it expires.
type row[R any] interface {
	*R
	key() *[16]byte
	expiryUnixSeconds() uint32 // Unix seconds
	digest() uint64            // a hash of all fields
}

// table holds rows in a slab with an open-addressed index.
//
// Invariants: the index has a power of two of entries, at most 3/4 of them used; an entry
// is zero or names a row; every row is reachable from its key's home entry without
// crossing a zero; sum is the sum of all digests.
//
// Each put removes a few expired rows, from a cursor that moves over the slab. So the
// sequence of events alone determines which rows are removed, and a replay removes the
// same ones. get does not return an expired row that is still present. (Rejected: Go's
// maps, which cost twice the memory for these rows, and an expiry queue beside the slab,
// which costs eight bytes a row.)
//
// The shard's lock guards a table. A pointer that get returns is valid while the caller
// holds the lock.
type table[R any, P row[R]] struct {
	rows  slab[R]
	index []uint32
	sum   uint64

	cursor      int    // of the sweep
	soonest     uint32 // no row expires before it, so no sweep is needed until then
	nextSoonest uint32 // the soonest expiry among the rows that this pass of the sweep has kept, or that were added meanwhile
}

// rowsPerSweep is the number of rows that each put checks. It is more than one, so that a
// table with expired rows empties faster than it fills.
const rowsPerSweep = 2

// An index entry holds a row's position plus one in as many low bits as the
// index needs for it, and above them a tag of the row's key. So a search rarely reads
// a row other than its own; each read is a cache miss.

// tag returns the upper part of the key's index entries.
func (t *table[R, P]) tag(key *[16]byte) uint32 {
	return binary.LittleEndian.Uint32(key[4:8]) &^ uint32(len(t.index)-1)
}

// homeIndexEntry returns the index entry at which the search for key begins. It does not use the
// key's last two bytes, which choose the shard.
func (t *table[R, P]) homeIndexEntry(key *[16]byte) uint32 {
	return binary.LittleEndian.Uint32(key[8:12]) & uint32(len(t.index)-1)
}

// find returns the index entry and the row's position. If the key is missing, it returns
// false and the entry for the key.
func (t *table[R, P]) find(key *[16]byte) (entry uint32, position int, ok bool) {
	if len(t.index) == 0 {
		return 0, 0, false
	}
	mask, tag := uint32(len(t.index)-1), t.tag(key)
	for entry = t.homeIndexEntry(key); t.index[entry] != 0; entry = (entry + 1) & mask {
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

// get returns the row, or nil if it is missing or has expired at now.
func (t *table[R, P]) get(key *[16]byte, now uint32) P {
	_, position, ok := t.find(key)
	if !ok {
		return nil
	}
	if found := P(t.rows.at(position)); found.expiryUnixSeconds() > now {
		return found
	}
	return nil
}

// prefetch reads the memory that a put of key needs: the index where its search begins,
// and the place of the next row. The result has no meaning.
func (t *table[R, P]) prefetch(key *[16]byte) uint32 {
	if len(t.index) == 0 {
		return 0
	}
	t.rows.prefetchNextPlace()
	return t.index[t.homeIndexEntry(key)]
}

// put adds a row or replaces the one with its key, and sweeps a few rows.
func (t *table[R, P]) put(value *R, now uint32) {
	t.sweepExpiredRows(now)
	added := P(t.rows.push(value)) // at once: a value whose methods are called here would move to the heap
	last := t.rows.n - 1
	t.sum += added.digest()
	if last == 0 {
		t.cursor, t.soonest, t.nextSoonest = 0, added.expiryUnixSeconds(), added.expiryUnixSeconds()
	}
	t.soonest, t.nextSoonest = min(t.soonest, added.expiryUnixSeconds()), min(t.nextSoonest, added.expiryUnixSeconds())
	entry, position, ok := t.find(added.key())
	if ok {
		known := t.rows.at(position)
		t.sum -= P(known).digest()
		*known = *added
		t.rows.pop()
		return
	}
	if t.rows.n*4 > len(t.index)*3 {
		t.rebuildIndex(max(8, 2*len(t.index)))
	} else {
		t.index[entry] = t.tag(added.key()) | uint32(last+1)
	}
}

// editRow calls editRow to rewrite the row with this key, and possibly its expiry. It returns
// false if the key is missing.
func (t *table[R, P]) editRow(key *[16]byte, edit func(P)) bool {
	_, position, ok := t.find(key)
	if !ok {
		return false
	}
	found := P(t.rows.at(position))
	t.sum -= found.digest()
	edit(found)
	t.sum += found.digest()
	t.soonest, t.nextSoonest = min(t.soonest, found.expiryUnixSeconds()), min(t.nextSoonest, found.expiryUnixSeconds())
	return true
}

// addToIndex enters the row at position into the index.
func (t *table[R, P]) addToIndex(position int) {
	mask := uint32(len(t.index) - 1)
	key := P(t.rows.at(position)).key()
	entry := t.homeIndexEntry(key)
	for t.index[entry] != 0 {
		entry = (entry + 1) & mask
	}
	t.index[entry] = t.tag(key) | uint32(position+1)
}

func (t *table[R, P]) rebuildIndex(size int) {
	t.index = make([]uint32, size)
	for position := range t.rows.n {
		t.addToIndex(position)
	}
}

// sweepExpiredRows removes expired rows among the next few.
func (t *table[R, P]) sweepExpiredRows(now uint32) {
	for range min(rowsPerSweep, t.rows.n) {
		if t.cursor >= t.rows.n {
			t.cursor, t.soonest, t.nextSoonest = 0, t.nextSoonest, math.MaxUint32
		}
		if now < t.soonest {
			return
		}
		if expires := P(t.rows.at(t.cursor)).expiryUnixSeconds(); expires > now {
			t.nextSoonest = min(t.nextSoonest, expires)
			t.cursor++
			continue
		}
		t.removeRow(t.cursor)
		if t.rows.n == 0 {
			return
		}
	}
}

// removeRow deletes the row at position; the last row takes its place.
func (t *table[R, P]) removeRow(position int) {
	gone := P(t.rows.at(position))
	t.sum -= gone.digest()
	t.clearIndexEntry(t.indexEntryOf(gone))
	last := t.rows.n - 1
	if position != last {
		moved := P(t.rows.at(last))
		t.index[t.indexEntryOf(moved)] = t.tag(moved.key()) | uint32(position+1)
		t.nextSoonest = min(t.nextSoonest, moved.expiryUnixSeconds())
		*gone = *moved
	}
	t.rows.pop()
	if len(t.index) > 64 && t.rows.n < len(t.index)/8 {
		t.rebuildIndex(len(t.index) / 2)
	}
}

// indexEntryOf returns the index entry of a row that is in the table.
func (t *table[R, P]) indexEntryOf(known P) uint32 {
	entry, _, ok := t.find(known.key())
	if !ok {
		panic("BUG: a row that its index does not reach")
	}
	return entry
}

// clearIndexEntry frees an entry and moves the following ones up, so that each stays reachable from
// its home.
func (t *table[R, P]) clearIndexEntry(entry uint32) {
	mask := uint32(len(t.index) - 1)
	hole := entry
	for next := (hole + 1) & mask; t.index[next] != 0; next = (next + 1) & mask {
		home := t.homeIndexEntry(P(t.rows.at(int(t.index[next]&mask) - 1)).key())
		if (next-home)&mask >= (next-hole)&mask {
			t.index[hole] = t.index[next]
			hole = next
		}
	}
	t.index[hole] = 0
}
