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

// FingerprintTable is the content of a suppression list: fingerprints in ascending order, and an
// index. The index stores where each bucket begins. A bucket is the range of fingerprints with
// the same upper bits. Fingerprints are keyed hashes, so they spread evenly and a bucket holds
// four to eight of them: one cache line. An entry takes 8 bytes and up to one byte of index. A
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
// Rejected: a hash table, which needs twice the space at the load at which it is fast. Rejected:
// a Bloom filter, whose false positives would lose sales.
type FingerprintTable struct {
	file         []byte
	bucketStarts []uint32 // of bucket i: its first entry; one more for the end
	shift        uint     // a fingerprint's bucket is its value, shifted right by this
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

// NewFingerprintTable returns a table with these fingerprints, in any order and possibly
// repeated. It sorts the slice in place and does not keep it.
func NewFingerprintTable(fingerprints []uint64) *FingerprintTable {
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
	return newIndexedTable(file)
}

// ParseFingerprintTable reads a table from the file form that AppendBinary and WriteTo write. The
// table keeps data, which the caller must not change afterwards.
func ParseFingerprintTable(data []byte) (*FingerprintTable, error) {
	switch {
	case len(data) < tableHeader+tableChecksum || string(data[:len(tableMagic)]) != tableMagic:
		return nil, errors.New("the file is not a suppression table")
	case binary.LittleEndian.Uint32(data[4:]) != tableVersion:
		return nil, fmt.Errorf("the stored file of the suppression list has format version %d, but this program reads version %d; upload the list again", binary.LittleEndian.Uint32(data[4:]), tableVersion)
	}
	body := len(data) - tableHeader - tableChecksum
	count := binary.LittleEndian.Uint64(data[8:])
	if count > maxTableEntries || body%fingerprintSize != 0 || uint64(body/fingerprintSize) != count {
		return nil, fmt.Errorf("the suppression table of %d entries has %d bytes for them: the file is truncated or overwritten; upload the list again", count, body)
	}
	sealed := len(data) - tableChecksum
	if crc32.Checksum(data[:sealed], castagnoli) != binary.LittleEndian.Uint32(data[sealed:]) {
		return nil, errors.New("the checksum of the suppression table does not match: the file is damaged; upload the list again")
	}
	t := newIndexedTable(data)
	for i := 1; i < t.Len(); i++ {
		if t.entry(i-1) >= t.entry(i) {
			return nil, errors.New("the suppression table is not sorted: another program wrote it; upload the list again")
		}
	}
	return t, nil
}

// AppendBinary appends the table in its file form, which ParseFingerprintTable reads.
func (t *FingerprintTable) AppendBinary(dst []byte) []byte { return append(dst, t.file...) }

// WriteTo writes the table in its file form, which ParseFingerprintTable reads.
func (t *FingerprintTable) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(t.file)
	return int64(n), err
}

// AppendEntries appends all fingerprints of the table to dst, in ascending order.
func (t *FingerprintTable) AppendEntries(dst []uint64) []uint64 {
	for i := range t.Len() {
		dst = append(dst, t.entry(i))
	}
	return dst
}

// Len returns the number of fingerprints.
func (t *FingerprintTable) Len() int {
	return (len(t.file) - tableHeader - tableChecksum) / fingerprintSize
}

// Has reports whether the table contains the fingerprint.
func (t *FingerprintTable) Has(fingerprint uint64) bool {
	bucket := fingerprint >> t.shift
	from, to := int(t.bucketStarts[bucket]), int(t.bucketStarts[bucket+1])
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

// entry returns the i-th fingerprint in ascending order, from 0.
func (t *FingerprintTable) entry(i int) uint64 {
	return binary.LittleEndian.Uint64(t.file[tableHeader+fingerprintSize*i:])
}

// newIndexedTable returns a table over the bytes of its file form, and builds the index. The
// number of buckets is a quarter of the number of fingerprints, rounded down to a power of two.
func newIndexedTable(file []byte) *FingerprintTable {
	t := &FingerprintTable{file: file, shift: 64}
	n := t.Len()
	if n >= 8 {
		t.shift = uint(65 - bits.Len(uint(n/4)))
	}
	t.bucketStarts = make([]uint32, 1<<(64-t.shift)+1)
	for i := range n {
		t.bucketStarts[t.entry(i)>>t.shift+1] = uint32(i + 1)
	}
	for bucket := range t.bucketStarts[1:] { // an empty bucket ends at its beginning
		t.bucketStarts[bucket+1] = max(t.bucketStarts[bucket+1], t.bucketStarts[bucket])
	}
	return t
}
