package fingerprint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"slices"
)

// Table is the contents of a suppression list: fingerprints in ascending order,
// and for each stretch of their upper bits where it begins. Fingerprints are
// keyed hashes, so they spread evenly and a stretch holds four to eight of
// them: one cache line. An entry takes 8 bytes and up to one byte of index. A
// table is immutable, and has one layout in memory and on disk:
//
//	 0        4         8             16                    16+8n    20+8n
//	+--------+---------+-------------+---------------------+--------+
//	| "ppsl" | version | count n     | n fingerprints      | crc32c |
//	|        | uint32  | uint64      | uint64, ascending   | uint32 |
//	+--------+---------+-------------+---------------------+--------+
//
// All numbers are little-endian; the checksum covers everything before it.
//
// Rejected: a hash table, which takes twice the space at a load it is fast at;
// a Bloom filter, which has false answers enough to lose sales.
type Table struct {
	file   []byte
	starts []uint32 // of stretch i: its first entry; one more for the end
	shift  uint     // a fingerprint's stretch is what is left of it after this shift
}

const (
	tableMagic      = "ppsl"
	tableVersion    = 1
	tableHeader     = 16
	tableChecksum   = 4
	fingerprintSize = 8
	maxTableEntries = math.MaxUint32
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// NewTable makes a table of fingerprints in any order, repeated or not. It sorts
// the slice in place and does not keep it.
func NewTable(fingerprints []uint64) *Table {
	slices.Sort(fingerprints)
	fingerprints = slices.Compact(fingerprints)
	if len(fingerprints) > maxTableEntries {
		panic("BUG: a suppression list of more than four thousand million entries")
	}
	file := make([]byte, 0, tableHeader+fingerprintSize*len(fingerprints)+tableChecksum)
	file = append(file, tableMagic...)
	file = binary.LittleEndian.AppendUint32(file, tableVersion)
	file = binary.LittleEndian.AppendUint64(file, uint64(len(fingerprints)))
	for _, f := range fingerprints {
		file = binary.LittleEndian.AppendUint64(file, f)
	}
	file = binary.LittleEndian.AppendUint32(file, crc32.Checksum(file, castagnoli))
	return indexTable(file)
}

// OpenTable reads a table that AppendBinary wrote. It keeps the bytes, which the caller
// must not change afterwards.
func OpenTable(file []byte) (*Table, error) {
	switch {
	case len(file) < tableHeader+tableChecksum || string(file[:len(tableMagic)]) != tableMagic:
		return nil, errors.New("not a suppression table")
	case binary.LittleEndian.Uint32(file[4:]) != tableVersion:
		return nil, fmt.Errorf("suppression table of version %d, this program reads %d", binary.LittleEndian.Uint32(file[4:]), tableVersion)
	}
	body := len(file) - tableHeader - tableChecksum
	count := binary.LittleEndian.Uint64(file[8:])
	if count > maxTableEntries || body%fingerprintSize != 0 || uint64(body/fingerprintSize) != count {
		return nil, fmt.Errorf("suppression table of %d entries has %d bytes for them: it was cut short or written over", count, body)
	}
	sealed := len(file) - tableChecksum
	if crc32.Checksum(file[:sealed], castagnoli) != binary.LittleEndian.Uint32(file[sealed:]) {
		return nil, errors.New("suppression table has a wrong checksum: the file is damaged")
	}
	t := indexTable(file)
	for i := 1; i < t.Len(); i++ {
		if t.entry(i-1) >= t.entry(i) {
			return nil, errors.New("suppression table is out of order: it was not written by this program")
		}
	}
	return t, nil
}

// AppendBinary appends the table's file form.
func (t *Table) AppendBinary(dst []byte) []byte { return append(dst, t.file...) }

// WriteTo writes the table's file form.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(t.file)
	return int64(n), err
}

// AppendEntries appends the table's fingerprints, in ascending order.
func (t *Table) AppendEntries(dst []uint64) []uint64 {
	for i := range t.Len() {
		dst = append(dst, t.entry(i))
	}
	return dst
}

// Len is how many entries the table has.
func (t *Table) Len() int {
	return (len(t.file) - tableHeader - tableChecksum) / fingerprintSize
}

// Has reports whether the fingerprint is an entry.
func (t *Table) Has(fingerprint uint64) bool {
	stretch := fingerprint >> t.shift
	from, to := int(t.starts[stretch]), int(t.starts[stretch+1])
	for from < to {
		middle := int(uint(from+to) / 2)
		switch entry := t.entry(middle); {
		case entry == fingerprint:
			return true
		case entry < fingerprint:
			from = middle + 1
		default:
			to = middle
		}
	}
	return false
}

func (t *Table) entry(i int) uint64 {
	return binary.LittleEndian.Uint64(t.file[tableHeader+fingerprintSize*i:])
}

// indexed finds where the stretches begin: as many as a quarter of the entries,
// rounded down to a power of two.
func indexTable(file []byte) *Table {
	t := &Table{file: file, shift: 64}
	n := t.Len()
	if n >= 8 {
		t.shift = uint(65 - bits.Len(uint(n/4)))
	}
	t.starts = make([]uint32, 1<<(64-t.shift)+1)
	for i := range n {
		t.starts[t.entry(i)>>t.shift+1] = uint32(i + 1)
	}
	for stretch := range t.starts[1:] { // an empty one ends where it begins
		t.starts[stretch+1] = max(t.starts[stretch+1], t.starts[stretch])
	}
	return t
}
