package state

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
