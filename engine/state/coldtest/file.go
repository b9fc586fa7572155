// Package coldtest has cold files in memory, for tests of the state.
package coldtest

import (
	"bytes"
	"maps"
	"slices"
)

// File is a cold file in memory: see state.ColdFile. Its filter lets each key pass.
type File struct {
	Metadata []byte
	Broken   error // the error of each read

	rowBytes []int
	parts    [][]byte
}

// New returns an empty file of this shape: see state.ColdRowShape.
func New(shards int, rowBytes []int) *File {
	return &File{rowBytes: rowBytes, parts: make([][]byte, 0, shards*len(rowBytes))}
}

// Merge returns a file with the newest row for each key, without the rows that drop selects. It has no meta.
func Merge(newestFirst []*File, drop func(kind int, row []byte) bool) *File {
	merged := &File{rowBytes: newestFirst[0].rowBytes}
	for part := range newestFirst[0].parts {
		kind, rows := part%len(merged.rowBytes), map[[16]byte][]byte{}
		for _, file := range slices.Backward(newestFirst) {
			for row := range slices.Chunk(file.parts[part], merged.rowBytes[kind]) {
				rows[[16]byte(row)] = row
			}
		}
		var sorted []byte
		for _, key := range slices.SortedFunc(maps.Keys(rows), func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }) {
			if !drop(kind, rows[key]) {
				sorted = append(sorted, rows[key]...)
			}
		}
		merged.parts = append(merged.parts, sorted)
	}
	return merged
}

// WritePart adds the next part.
func (f *File) WritePart(rows []byte) error {
	f.parts = append(f.parts, bytes.Clone(rows))
	return nil
}

func (f *File) part(kind, shard int) []byte { return f.parts[shard*len(f.rowBytes)+kind] }

// MayHave is true for each key, as if the filter were always wrong.
func (f *File) MayHave(int, int, [16]byte) bool { return true }

// Find searches all rows of a part.
func (f *File) Find(kind, shard int, key [16]byte, dst []byte) (row []byte, found bool, err error) {
	if f.Broken != nil {
		return dst, false, f.Broken
	}
	for row := range slices.Chunk(f.part(kind, shard), f.rowBytes[kind]) {
		if [16]byte(row) == key {
			return append(dst, row...), true, nil
		}
	}
	return dst, false, nil
}

// AppendPart appends the rows of a part to dst.
func (f *File) AppendPart(dst []byte, kind, shard int) ([]byte, error) {
	if f.Broken != nil {
		return dst, f.Broken
	}
	return append(dst, f.part(kind, shard)...), nil
}

// Meta returns Metadata.
func (f *File) Meta() []byte { return f.Metadata }
