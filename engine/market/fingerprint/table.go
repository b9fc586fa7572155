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
func NewFingerprintTable(sortedInPlace []uint64) *FingerprintTable {
	slices.Sort(sortedInPlace)
	sortedInPlace = slices.Compact(sortedInPlace)
	if len(sortedInPlace) > maxTableEntries {
		panic("BUG: a suppression list of more than four thousand million entries")
	}
	file := make([]byte, 0, tableHeader+fingerprintSize*len(sortedInPlace)+tableChecksum)
	file = append(file, tableMagic...)
	file = binary.LittleEndian.AppendUint32(file, tableVersion)
	file = binary.LittleEndian.AppendUint64(file, uint64(len(sortedInPlace)))
	for _, f := range sortedInPlace {
		file = binary.LittleEndian.AppendUint64(file, f)
	}
	file = binary.LittleEndian.AppendUint32(file, crc32.Checksum(file, castagnoli))
	return indexTableFile(file)
}

// ParseFingerprintTable reads a table from the file form that AppendBinary and WriteTo write. The
// table keeps retainedFile, which the caller must not change afterwards.
func ParseFingerprintTable(retainedFile []byte) (*FingerprintTable, error) {
	switch {
	case len(retainedFile) < tableHeader+tableChecksum || string(retainedFile[:len(tableMagic)]) != tableMagic:
		return nil, errors.New("the stored file is not a suppression table: it was overwritten or has another format; upload the list again")
	case binary.LittleEndian.Uint32(retainedFile[4:]) != tableVersion:
		return nil, fmt.Errorf("the stored file of the suppression list has format version %d, but this program reads version %d; upload the list again", binary.LittleEndian.Uint32(retainedFile[4:]), tableVersion)
	}
	body := len(retainedFile) - tableHeader - tableChecksum
	count := binary.LittleEndian.Uint64(retainedFile[8:])
	if count > maxTableEntries || body%fingerprintSize != 0 || uint64(body/fingerprintSize) != count {
		return nil, fmt.Errorf("the suppression table of %d entries has %d bytes for them: the file is truncated or overwritten; upload the list again", count, body)
	}
	sealed := len(retainedFile) - tableChecksum
	if crc32.Checksum(retainedFile[:sealed], castagnoli) != binary.LittleEndian.Uint32(retainedFile[sealed:]) {
		return nil, errors.New("the checksum of the suppression table does not match: the file is damaged; upload the list again")
	}
	t := indexTableFile(retainedFile)
	for i := 1; i < t.Len(); i++ {
		if t.fingerprintAt(i-1) >= t.fingerprintAt(i) {
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

// AppendFingerprints appends all fingerprints of the table to dst, in ascending order.
func (t *FingerprintTable) AppendFingerprints(dst []uint64) []uint64 {
	for i := range t.Len() {
		dst = append(dst, t.fingerprintAt(i))
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
		switch entry := t.fingerprintAt(middle); {
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

// fingerprintAt returns the i-th fingerprint in ascending order, from 0.
func (t *FingerprintTable) fingerprintAt(i int) uint64 {
	return binary.LittleEndian.Uint64(t.file[tableHeader+fingerprintSize*i:])
}

// indexTableFile returns a table over the bytes of its file form, and builds the index. The
// number of buckets is a quarter of the number of fingerprints, rounded down to a power of two.
func indexTableFile(file []byte) *FingerprintTable {
	t := &FingerprintTable{file: file, shift: 64}
	n := t.Len()
	if n >= 8 {
		t.shift = uint(65 - bits.Len(uint(n/4)))
	}
	t.bucketStarts = make([]uint32, 1<<(64-t.shift)+1)
	for i := range n {
		t.bucketStarts[t.fingerprintAt(i)>>t.shift+1] = uint32(i + 1)
	}
	for bucket := range t.bucketStarts[1:] { // an empty bucket ends at its beginning
		t.bucketStarts[bucket+1] = max(t.bucketStarts[bucket+1], t.bucketStarts[bucket])
	}
	return t
}
