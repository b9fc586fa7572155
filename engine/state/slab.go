package state

// slab is a list of rows that grows without moving them: rows are in chunks of one size,
// and a full slab gets another chunk. Only the first chunk starts smaller, and is copied
// as it doubles, so a thousand tables with a few rows each cost little.
//
// Invariants: position n is in chunk n/chunkRows. All chunks but the first have capacity
// chunkRows. At most one chunk at the end is empty, so that a slab whose length alternates
// around a chunk's border neither frees nor allocates one each time.
//
// (Rejected: one slice that append grows. It zeroes, copies and leaves each row to the
// collector several times; a replay spent a fifth of its time on that.)
type slab[R any] struct {
	chunks [][]R // each with its full capacity as length
	n      int
}

const (
	chunkBits  = 6
	chunkRows  = 1 << chunkBits
	firstChunk = 8
)

// at returns the row at a used position. The pointer is valid until the next push or pop.
func (s *slab[R]) at(position int) *R {
	return &s.chunks[position>>chunkBits][position&(chunkRows-1)]
}

// push adds a row at the end.
func (s *slab[R]) push(row *R) *R {
	if s.n == s.capacity() {
		s.addCapacity()
	}
	added := s.at(s.n)
	*added = *row
	s.n++
	return added
}

// pop removes the last row.
func (s *slab[R]) pop() {
	s.n--
	if spare := s.n>>chunkBits + 2; len(s.chunks) > spare {
		clear(s.chunks[spare:])
		s.chunks = s.chunks[:spare]
	}
}

// capacity returns the number of rows that fit without another chunk.
func (s *slab[R]) capacity() int {
	if len(s.chunks) < 2 {
		return s.firstChunkCapacity()
	}
	return len(s.chunks) << chunkBits
}

// firstChunkCapacity returns the capacity of the first chunk.
func (s *slab[R]) firstChunkCapacity() int {
	if len(s.chunks) == 0 {
		return 0
	}
	return len(s.chunks[0])
}

func (s *slab[R]) addCapacity() {
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

// appendRowsTo appends all rows to dst, in order.
func (s *slab[R]) appendRowsTo(dst []R) []R {
	for left, i := s.n, 0; left > 0; i++ {
		taken := min(left, len(s.chunks[i]))
		dst = append(dst, s.chunks[i][:taken]...)
		left -= taken
	}
	return dst
}

// prefetchNextPlace clears the place of the next row, which loads it into the cache.
func (s *slab[R]) prefetchNextPlace() {
	if s.n < s.capacity() {
		var none R
		*s.at(s.n) = none
	}
}
