package rowfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/FastFilter/xorfilter"
)

// filter is the filter of a part. It is zero for a part without rows.
type filter = xorfilter.BinaryFuse[uint16]

// readFilters reads and verifies the filters of all parts.
//
// The fingerprints of all filters are one block of memory, in huge pages if the system has them. A lookup reads three
// of them at random places, and with pages of 4 KB the search for each page costs about as much as the read itself.
// (Rejected: memory outside of the heap. The collector, which keeps below the limit of the machine's memory, would not
// count it, and a lookup in a file that was just closed would crash.)
func (f *File) readFilters() error {
	size := 0
	for i := range f.parts {
		size += f.parts[i].filterBytes
	}
	if int64(size) > f.size {
		return fmt.Errorf("%w: its filters are larger than the file", ErrDamaged)
	}
	fingerprints := make([]uint16, 0, size/2)
	useHugePages(fingerprints[:cap(fingerprints)])
	runtime.AddCleanup(f, useSmallPages, fingerprints[:cap(fingerprints)])
	f.filters = make([]filter, len(f.parts))
	var buf []byte
	for i := range f.parts {
		p, kind := &f.parts[i], i%len(f.shape.RowBytes)
		if p.rows == 0 {
			continue
		}
		offset := p.filterOffset(f.shape.rowsPerBlock(kind), f.shape.RowBytes[kind])
		buf = slices.Grow(buf[:0], p.filterBytes+checksumLen)[:p.filterBytes+checksumLen]
		if _, err := f.f.ReadAt(buf, offset); err != nil {
			return fmt.Errorf("%w: cannot read the filter at offset %d: %w", ErrDamaged, offset, err)
		}
		encoded, err := f.checkBlock(offset, buf)
		if err != nil {
			return err
		}
		if f.filters[i], fingerprints, err = decodeFilter(encoded, fingerprints); err != nil {
			return fmt.Errorf("%w: cannot decode the filter at offset %d: %w", ErrDamaged, offset, err)
		}
	}
	return nil
}

// encodedFilterHead is the size of an encoded filter without its fingerprints.
const encodedFilterHead = 28

// decodeFilter decodes a filter that filter.Save has encoded, as xorfilter.LoadBinaryFuse does, but appends its
// fingerprints to the memory for them. That memory must have room for them.
func decodeFilter(encoded []byte, memory []uint16) (decoded filter, used []uint16, err error) {
	if len(encoded) < encodedFilterHead {
		return decoded, memory, io.ErrUnexpectedEOF
	}
	head, body := encoded[:encodedFilterHead], encoded[encodedFilterHead:]
	half := func(at int) uint32 { return binary.LittleEndian.Uint32(head[at:]) }
	decoded = filter{
		Seed: binary.LittleEndian.Uint64(head), SegmentLength: half(8), SegmentLengthMask: half(12), SegmentCount: half(16), SegmentCountLength: half(20),
	}
	if uint64(half(24))*2 != uint64(len(body)) {
		return decoded, memory, io.ErrUnexpectedEOF
	}
	segment, all := uint64(decoded.SegmentLength), uint64(half(24))
	if segment == 0 || segment&(segment-1) != 0 || uint64(decoded.SegmentLengthMask) != segment-1 ||
		uint64(decoded.SegmentCountLength) != uint64(decoded.SegmentCount)*segment || all != uint64(decoded.SegmentCountLength)+2*segment {
		return decoded, memory, errors.New("the sizes of the filter contradict each other")
	}
	begin := len(memory)
	for ; len(body) > 0; body = body[2:] {
		memory = append(memory, binary.LittleEndian.Uint16(body))
	}
	decoded.Fingerprints = memory[begin:len(memory):len(memory)]
	return decoded, memory, nil
}
