package rowfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sort"
	"sync"
)

// File is an open file. It is safe for concurrent use. A file that is no longer referenced closes itself, so a
// reader never loses the file that it reads while another goroutine replaces it.
type File struct {
	path  string
	shape Shape
	f     *os.File
	id    [8]byte
	size  int64
	meta  []byte
	parts []part

	filters []filter // of the parts, apart from them: a lookup of a missing key reads no other fields
	reads   chan struct{}
}

// Open opens a file and reads its index into memory. reads limits the reads at one time of all files that share
// it: each read puts a value into the channel. Errors: ErrDamaged, or from the disk.
func Open(path string, shape Shape, reads chan struct{}) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open a row file: %w", err)
	}
	file := &File{path: path, shape: shape, f: f, reads: reads}
	if err := file.readTrailerAndIndex(); err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot open the row file %q: %w", path, err)
	}
	return file, nil
}

func (f *File) readTrailerAndIndex() error {
	info, err := f.f.Stat()
	if err != nil {
		return err
	}
	if f.size = info.Size(); f.size < headerBytes+trailerBytes {
		return fmt.Errorf("%w: it is too short", ErrDamaged)
	}
	var header [headerBytes]byte
	var end [trailerBytes]byte
	if _, err := f.f.ReadAt(header[:], 0); err != nil {
		return err
	}
	if _, err := f.f.ReadAt(end[:], f.size-trailerBytes); err != nil {
		return err
	}
	t, err := parseTrailer(header[:], end[:], f.size)
	if err != nil {
		return err
	}
	f.id = t.id
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(sum, io.NewSectionReader(f.f, t.indexOffset, t.indexLength)); err != nil {
		return err
	}
	if sum.Sum32() != t.indexChecksum {
		return fmt.Errorf("%w: the checksum of its index does not match", ErrDamaged)
	}
	f.meta, f.parts, err = readIndex(bufio.NewReaderSize(io.NewSectionReader(f.f, t.indexOffset, t.indexLength), 1<<16), &f.shape, f.size)
	if err != nil {
		return err
	}
	return f.readFilters()
}

// Meta returns the caller's data of Commit.
func (f *File) Meta() []byte { return f.meta }

// Path returns the file's path.
func (f *File) Path() string { return f.path }

// Bytes returns the file's size.
func (f *File) Bytes() int64 { return f.size }

// Rows returns the number of rows of a kind.
func (f *File) Rows(kind int) (n int) {
	for i := kind; i < len(f.parts); i += len(f.shape.RowBytes) {
		n += f.parts[i].rows
	}
	return n
}

func (f *File) partIndex(kind, shard int) int { return shard*len(f.shape.RowBytes) + kind }

func (f *File) part(kind, shard int) *part { return &f.parts[f.partIndex(kind, shard)] }

// blocks pools the buffers of Find.
var blocks = sync.Pool{New: func() any { return new([blockBytes]byte) }}

// MayHave reports whether the file may have a row with this key. It reads no disk. It is wrongly true for about
// one in 65,536 missing keys, and never wrongly false.
func (f *File) MayHave(kind, shard int, key [KeyBytes]byte) bool {
	filter := &f.filters[f.partIndex(kind, shard)]
	return len(filter.Fingerprints) > 0 && filter.Contains(filterKeyOf(key[:]))
}

// Find appends the row with this key to dst. It reads the disk if MayHave is true. Errors: ErrDamaged, or from
// the disk.
func (f *File) Find(kind, shard int, key [KeyBytes]byte, dst []byte) (row []byte, found bool, err error) {
	if !f.MayHave(kind, shard, key) {
		return dst, false, nil
	}
	p := f.part(kind, shard)
	buf := blocks.Get().(*[blockBytes]byte)
	defer blocks.Put(buf)
	// The last block that does not begin with a greater key. Blocks before it may begin with the same prefix.
	prefix := prefixOf(key[:])
	block := sort.Search(len(p.prefixes), func(i int) bool { return p.prefixes[i] > prefix }) - 1
	for ; block >= 0; block-- {
		rows, err := f.readBlock(p, kind, block, buf[:])
		if err != nil {
			return dst, false, err
		}
		size := f.shape.RowBytes[kind]
		at := sort.Search(len(rows)/size, func(i int) bool { return compareKeys(rows[i*size:], key[:]) >= 0 }) * size
		if at < len(rows) && bytes.Equal(rows[at:at+KeyBytes], key[:]) {
			return append(dst, rows[at:at+size]...), true, nil
		}
		if at > 0 || p.prefixes[block] != prefix {
			break
		}
	}
	return dst, false, nil
}

// readBlock reads and verifies one block of a part into buf, and returns its rows.
func (f *File) readBlock(p *part, kind, block int, buf []byte) (rows []byte, err error) {
	offset, length := p.blockRange(block, f.shape.rowsPerBlock(kind), f.shape.RowBytes[kind])
	f.reads <- struct{}{}
	_, err = f.f.ReadAt(buf[:length], offset)
	<-f.reads
	if err != nil { // a bad sector or a cut file: its rows are lost here
		return nil, fmt.Errorf("cannot read the row file %q at offset %d: %w: %w", f.path, offset, ErrDamaged, err)
	}
	return f.checkBlock(offset, buf[:length])
}

func (f *File) checkBlock(offset int64, block []byte) (rows []byte, err error) {
	rows = block[:len(block)-checksumLen]
	if blockChecksum(f.id, offset, rows) != binary.LittleEndian.Uint32(block[len(rows):]) {
		return nil, fmt.Errorf("the row file %q: the checksum of the block at offset %d does not match: %w", f.path, offset, ErrDamaged)
	}
	return rows, nil
}

// AppendPart appends all rows of a part to dst, in the order of their keys. Errors are those of Find.
func (f *File) AppendPart(dst []byte, kind, shard int) ([]byte, error) {
	p := f.part(kind, shard)
	buf := blocks.Get().(*[blockBytes]byte)
	defer blocks.Put(buf)
	for block := range p.prefixes {
		rows, err := f.readBlock(p, kind, block, buf[:])
		if err != nil {
			return dst, err
		}
		dst = append(dst, rows...)
	}
	return dst, nil
}
