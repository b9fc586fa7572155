package state

import (
	"encoding/binary"
	"math"
)

// row is implemented by the rows of a table: values of fixed size without pointers. A row's key
// has 16 evenly spread bytes (random, or a hash), and a row expires.
type row[R any] interface {
	*R
	key() *[16]byte
	expiryUnixSeconds() uint32 // the row is expired from this time on
	contentHash() uint64       // a hash of all fields
}

// table holds rows in a list, with a hash index by key (open addressing).
//
// Invariants: the index has a power of two of entries, at most 3/4 of them used. An entry is zero
// or refers to a row. Every row is reachable from its key's home entry without crossing a zero.
//
// Each put removes a few expired rows, from a cursor that moves over the list. get does not return an expired row
// that is still present. (Rejected: Go's maps, which cost twice the memory for these rows, and an expiry
// queue beside the list, which costs eight bytes a row.)
//
// The shard's lock guards a table. A pointer that get returns is valid while the caller holds the
// lock.
type table[R any, P row[R]] struct {
	rows  chunkedRowList[R]
	index []uint32
	sums  *rowHashSums // of all tables of the state

	cursor      int    // of the sweep
	soonest     uint32 // no row expires before it, so no sweep is needed until then
	nextSoonest uint32 // the soonest expiry among the rows that this pass of the sweep has kept, or that were added meanwhile
}

// rowsPerSweep is the number of rows that each put checks for expiry. Each put adds at most one
// row, so with two checks a table of expired rows shrinks.
const rowsPerSweep = 2

// An index entry holds a row's position plus one in as many low bits as the
// index needs for it, and above them a tag of the row's key. So a search rarely reads
// a row other than its own; each read is a cache miss.

// tag returns the part of the key that its index entry stores in the high bits. A search compares
// tags before it reads a row.
func (t *table[R, P]) tag(key *[16]byte) uint32 {
	return binary.LittleEndian.Uint32(key[4:8]) &^ uint32(len(t.index)-1)
}

// homeIndexEntry returns the index entry at which the search for key begins. It does not use the
// key's last two bytes, which choose the shard and are alike within it.
func (t *table[R, P]) homeIndexEntry(key *[16]byte) uint32 {
	return binary.LittleEndian.Uint32(key[8:12]) & uint32(len(t.index)-1)
}

// findWithExpired looks the key up, and returns its index entry and its row's position. If found is false, the
// table has no row with the key, and indexEntry is the free index entry for it.
func (t *table[R, P]) findWithExpired(key *[16]byte) (indexEntry uint32, position int, found bool) {
	if len(t.index) == 0 {
		return 0, 0, false
	}
	mask, tag := uint32(len(t.index)-1), t.tag(key)
	for indexEntry = t.homeIndexEntry(key); t.index[indexEntry] != 0; indexEntry = (indexEntry + 1) & mask {
		if t.index[indexEntry]&^mask != tag {
			continue
		}
		position = int(t.index[indexEntry]&mask) - 1
		if *P(t.rows.at(position)).key() == *key {
			return indexEntry, position, true
		}
	}
	return indexEntry, 0, false
}

// get returns the row with this key. It returns nil if the row is missing or has expired at
// nowUnixSeconds, in Unix seconds.
func (t *table[R, P]) get(key *[16]byte, nowUnixSeconds uint32) P {
	_, position, ok := t.findWithExpired(key)
	if !ok {
		return nil
	}
	if found := P(t.rows.at(position)); found.expiryUnixSeconds() > nowUnixSeconds {
		return found
	}
	return nil
}

// prefetchForPut loads the memory that a put of key will use into the CPU cache: the home index entry
// and the memory of the next row. The result has no meaning: it keeps the compiler from removing
// the read.
func (t *table[R, P]) prefetchForPut(key *[16]byte) (unusedWord uint32) {
	if len(t.index) == 0 {
		return 0
	}
	t.rows.prefetchNextRowMemory()
	return t.index[t.homeIndexEntry(key)]
}

// put adds a copy of value, or replaces the row that has its key. It first removes a few rows
// that have expired at nowUnixSeconds.
func (t *table[R, P]) put(value *R, nowUnixSeconds uint32) {
	t.sweepAFewExpiredRows(nowUnixSeconds)
	added := P(t.rows.push(value)) // at once: a value whose methods are called here would move to the heap
	last := t.rows.n - 1
	t.sums.add(added.expiryUnixSeconds(), added.contentHash())
	if last == 0 {
		t.cursor, t.soonest, t.nextSoonest = 0, added.expiryUnixSeconds(), added.expiryUnixSeconds()
	}
	t.soonest, t.nextSoonest = min(t.soonest, added.expiryUnixSeconds()), min(t.nextSoonest, added.expiryUnixSeconds())
	entry, position, ok := t.findWithExpired(added.key())
	if ok {
		known := t.rows.at(position)
		t.sums.add(P(known).expiryUnixSeconds(), -P(known).contentHash())
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

// addCountedRow adds a row that the sums count already, because a cold file has it. The table has no row with
// its key.
func (t *table[R, P]) addCountedRow(value *R) {
	added := P(t.rows.push(value))
	t.soonest, t.nextSoonest = min(t.soonest, added.expiryUnixSeconds()), min(t.nextSoonest, added.expiryUnixSeconds())
	if t.rows.n == 1 {
		t.cursor, t.soonest, t.nextSoonest = 0, added.expiryUnixSeconds(), added.expiryUnixSeconds()
	}
	if t.rows.n*4 > len(t.index)*3 {
		t.rebuildIndex(max(8, 2*len(t.index)))
	} else {
		t.addToIndex(t.rows.n - 1)
	}
}

// editRow calls edit with the row that has this key, and updates the sums of hashes. edit may change
// all fields but the key. rowExists is false if the table has no such row.
func (t *table[R, P]) editRow(key *[16]byte, edit func(P)) (rowExists bool) {
	_, position, ok := t.findWithExpired(key)
	if !ok {
		return false
	}
	found := P(t.rows.at(position))
	t.sums.add(found.expiryUnixSeconds(), -found.contentHash())
	edit(found)
	t.sums.add(found.expiryUnixSeconds(), found.contentHash())
	t.soonest, t.nextSoonest = min(t.soonest, found.expiryUnixSeconds()), min(t.nextSoonest, found.expiryUnixSeconds())
	return true
}

// addToIndex adds an index entry for the row at position.
func (t *table[R, P]) addToIndex(position int) {
	mask := uint32(len(t.index) - 1)
	key := P(t.rows.at(position)).key()
	entry := t.homeIndexEntry(key)
	for t.index[entry] != 0 {
		entry = (entry + 1) & mask
	}
	t.index[entry] = t.tag(key) | uint32(position+1)
}

// pageEntries is the number of index entries in a page of memory of 4 KiB.
const pageEntries = 4 << 10 / 4

// rebuildIndex replaces the index by one with indexSize entries, a power of two. It writes to each page first: the
// kernel maps a new page that is first read to its page of zeros, and then interrupts all processors at the first write.
func (t *table[R, P]) rebuildIndex(indexSize int) {
	t.index = make([]uint32, indexSize)
	for i := 0; i < indexSize; i += pageEntries {
		t.index[i] = 0
	}
	for position := range t.rows.n {
		t.addToIndex(position)
	}
}

// sweepAFewExpiredRows checks the next few rows from the cursor on, and removes those that have
// expired at nowUnixSeconds. It returns at once while no row can have expired.
func (t *table[R, P]) sweepAFewExpiredRows(nowUnixSeconds uint32) {
	for range min(rowsPerSweep, t.rows.n) {
		if t.cursor >= t.rows.n {
			t.cursor, t.soonest, t.nextSoonest = 0, t.nextSoonest, math.MaxUint32
		}
		if nowUnixSeconds < t.soonest {
			return
		}
		if expires := P(t.rows.at(t.cursor)).expiryUnixSeconds(); expires > nowUnixSeconds {
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

// removeRow removes the row at position, and its hash from the sums.
func (t *table[R, P]) removeRow(position int) {
	gone := P(t.rows.at(position))
	t.sums.add(gone.expiryUnixSeconds(), -gone.contentHash())
	t.removeCountedRow(position)
}

// removeCountedRow removes the row at position, which the sums continue to count. It moves the last row there, so
// that the list has no gaps. A table that has become almost empty gets a smaller index.
func (t *table[R, P]) removeCountedRow(position int) {
	gone := P(t.rows.at(position))
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

// indexEntryOf returns the index entry of a row that must be in the table. A missing row is a bug
// and panics.
func (t *table[R, P]) indexEntryOf(known P) uint32 {
	entry, _, ok := t.findWithExpired(known.key())
	if !ok {
		panic("BUG: the table's index does not lead to one of its rows")
	}
	return entry
}

// clearIndexEntry frees an index entry. It moves entries behind it forward, so that a search from
// their home entry still reaches them without crossing a free entry.
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

// chunkedRowList is a list of rows that grows without moving the rows of full chunks. The rows are in
// chunks of one size, and a full list gets another chunk. Only the first chunk starts smaller, and is
// copied as it doubles, so a thousand tables with a few rows each cost little.
//
// Invariants: position n is in chunk n/chunkRows. All chunks but the first have capacity
// chunkRows. At most two chunks at the end are empty, so that a list whose length alternates around
// a chunk's border neither frees nor allocates a chunk each time.
//
// (Rejected: one slice that append grows. It zeroes, copies and leaves each row to the garbage
// collector several times; a replay spent a fifth of its time on that.)
type chunkedRowList[R any] struct {
	chunks [][]R // each with its full capacity as length
	n      int
}

const (
	chunkBits  = 6
	chunkRows  = 1 << chunkBits
	firstChunk = 8
)

// at returns the row at position, which must be below the list's length. The pointer is valid
// until the next push or pop.
func (s *chunkedRowList[R]) at(position int) *R {
	return &s.chunks[position>>chunkBits][position&(chunkRows-1)]
}

// push appends a copy of row, and returns the address of the copy in the list.
func (s *chunkedRowList[R]) push(row *R) *R {
	if s.n == s.rowCapacity() {
		s.addCapacity()
	}
	added := s.at(s.n)
	*added = *row
	s.n++
	return added
}

// pop removes the last row. It keeps the chunk of the next push and one spare chunk, and frees those
// behind them.
func (s *chunkedRowList[R]) pop() {
	s.n--
	if spare := s.n>>chunkBits + 2; len(s.chunks) > spare {
		clear(s.chunks[spare:])
		s.chunks = s.chunks[:spare]
	}
}

// rowCapacity returns the number of rows that the present chunks can hold.
func (s *chunkedRowList[R]) rowCapacity() int {
	if len(s.chunks) < 2 {
		return s.firstChunkCapacity()
	}
	return len(s.chunks) << chunkBits
}

// firstChunkCapacity returns the number of rows that the first chunk can hold, or zero without a
// chunk.
func (s *chunkedRowList[R]) firstChunkCapacity() int {
	if len(s.chunks) == 0 {
		return 0
	}
	return len(s.chunks[0])
}

// addCapacity adds memory for more rows: it doubles a first chunk that is below full size, or adds
// a chunk.
func (s *chunkedRowList[R]) addCapacity() {
	switch first := s.firstChunkCapacity(); first {
	case 0:
		s.chunks = append(s.chunks, make([]R, firstChunk))
	case chunkRows:
		s.chunks = append(s.chunks, make([]R, chunkRows))
	default:
		larger := make([]R, min(2*first, chunkRows))
		copy(larger, s.chunks[0])
		s.chunks[0] = larger
	}
}

// appendRowsTo appends copies of all rows to dst, in order, and returns the extended slice.
func (s *chunkedRowList[R]) appendRowsTo(dst []R) []R {
	for left, i := s.n, 0; left > 0; i++ {
		taken := min(left, len(s.chunks[i]))
		dst = append(dst, s.chunks[i][:taken]...)
		left -= taken
	}
	return dst
}

// prefetchNextRowMemory zeroes the unused memory that the next push will write. This loads the memory
// into the CPU cache before a replay needs it.
func (s *chunkedRowList[R]) prefetchNextRowMemory() {
	if s.n < s.rowCapacity() {
		var none R
		*s.at(s.n) = none
	}
}
