package rowfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	magic        = "PPROWS"
	version      = 1
	headerBytes  = 16
	trailerBytes = 40
	blockBytes   = 4096
	checksumLen  = 4

	// KeyBytes is the length of a row's key.
	KeyBytes = 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrDamaged is wrapped by each error that says that a file does not have its content: it is damaged, truncated,
// or no file of this package or shape.
var ErrDamaged = errors.New("the row file is damaged")

// Shape says which parts a file has. Two files can be merged if their shapes are equal.
type Shape struct {
	Shards   int
	RowBytes []int // size of a row of each kind, in bytes, with its key
}

// parts returns the number of parts.
func (s *Shape) parts() int { return s.Shards * len(s.RowBytes) }

// rowsPerBlock returns how many rows of a kind a full block has.
func (s *Shape) rowsPerBlock(kind int) int { return (blockBytes - checksumLen) / s.RowBytes[kind] }

// part describes one part of a file.
type part struct {
	rows        int
	offset      int64    // of its first block
	filterBytes int      // size of the encoded filter, which is behind the last block
	prefixes    []uint32 // four bytes of the key of each block's first row: see prefixOf
}

// blockRange returns the offset and the length of a block of the part, whose rows have rowBytes bytes.
func (p *part) blockRange(block, rowsPerBlock, rowBytes int) (offset int64, length int) {
	rows := min(rowsPerBlock, p.rows-block*rowsPerBlock)
	return p.offset + int64(block)*int64(rowsPerBlock*rowBytes+checksumLen), rows*rowBytes + checksumLen
}

// filterOffset returns the offset of the part's filter, behind its last block.
func (p *part) filterOffset(rowsPerBlock, rowBytes int) int64 {
	if p.rows == 0 {
		return p.offset
	}
	offset, length := p.blockRange(len(p.prefixes)-1, rowsPerBlock, rowBytes)
	return offset + int64(length)
}

// compareKeys orders rows by the last eight bytes of their keys, and then by the first eight. The first bytes of some
// keys are a time, so many keys begin alike.
func compareKeys(a, b []byte) int {
	return cmp.Or(bytes.Compare(a[KeyBytes/2:KeyBytes], b[KeyBytes/2:KeyBytes]), bytes.Compare(a[:KeyBytes/2], b[:KeyBytes/2]))
}

// prefixOf returns the four bytes of a key that compareKeys compares first, as a number.
func prefixOf(key []byte) uint32 { return binary.BigEndian.Uint32(key[KeyBytes/2:]) }

// filterKeyOf returns the part of a key that the filter stores.
func filterKeyOf(key []byte) uint64 { return binary.LittleEndian.Uint64(key[KeyBytes/2:]) }

// blockChecksum returns the checksum of a block's rows at an offset of the file with this id.
func blockChecksum(id [8]byte, offset int64, rows []byte) uint32 {
	var place [16]byte
	copy(place[:], id[:])
	binary.LittleEndian.PutUint64(place[8:], uint64(offset))
	return crc32.Update(crc32.Checksum(place[:], castagnoli), castagnoli, rows)
}

// appendIndex appends the index of a file with these parts.
func appendIndex(dst []byte, shape *Shape, meta []byte, parts []part) []byte {
	dst = appendShape(dst, shape)
	dst = binary.AppendUvarint(dst, uint64(len(meta)))
	dst = append(dst, meta...)
	for i := range parts {
		dst = binary.AppendUvarint(dst, uint64(parts[i].rows))
		dst = binary.AppendUvarint(dst, uint64(parts[i].filterBytes))
		for _, prefix := range parts[i].prefixes {
			dst = binary.LittleEndian.AppendUint32(dst, prefix)
		}
	}
	return dst
}

func appendShape(dst []byte, shape *Shape) []byte {
	dst = binary.AppendUvarint(dst, uint64(shape.Shards))
	dst = binary.AppendUvarint(dst, uint64(len(shape.RowBytes)))
	for _, size := range shape.RowBytes {
		dst = binary.AppendUvarint(dst, uint64(size))
	}
	return dst
}

// indexReader is a buffered reader that can also read single bytes.
type indexReader interface {
	io.Reader
	io.ByteReader
}

// readIndex reads an index whose checksum has been verified. fileSize limits the number of rows, so that a wrong
// number allocates no memory.
func readIndex(r indexReader, shape *Shape, fileSize int64) (meta []byte, parts []part, err error) {
	want := appendShape(nil, shape)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, want) {
		return nil, nil, fmt.Errorf("%w: it has rows of another shape", ErrDamaged)
	}
	metaBytes, err := binary.ReadUvarint(r)
	if err != nil || metaBytes > uint64(fileSize) {
		return nil, nil, fmt.Errorf("%w: its index is too short", ErrDamaged)
	}
	meta = make([]byte, metaBytes)
	if _, err := io.ReadFull(r, meta); err != nil {
		return nil, nil, fmt.Errorf("%w: its index is too short", ErrDamaged)
	}
	parts = make([]part, shape.parts())
	offset := int64(headerBytes)
	for i := range parts {
		kind := i % len(shape.RowBytes)
		parts[i].offset = offset
		if err := parts[i].readIndexEntry(r, shape.rowsPerBlock(kind), fileSize); err != nil {
			return nil, nil, err
		}
		if parts[i].rows > 0 {
			offset = parts[i].filterOffset(shape.rowsPerBlock(kind), shape.RowBytes[kind]) + int64(parts[i].filterBytes) + checksumLen
		}
	}
	return meta, parts, nil
}

// readIndexEntry reads the part's entry of the index.
func (p *part) readIndexEntry(r indexReader, rowsPerBlock int, fileSize int64) error {
	rows, err1 := binary.ReadUvarint(r)
	filterBytes, err2 := binary.ReadUvarint(r)
	if err := errors.Join(err1, err2); err != nil || rows > uint64(fileSize)/KeyBytes || filterBytes > uint64(fileSize) {
		return fmt.Errorf("%w: its index has an impossible number of rows", ErrDamaged)
	}
	p.rows, p.filterBytes = int(rows), int(filterBytes)
	p.prefixes = make([]uint32, (p.rows+rowsPerBlock-1)/rowsPerBlock)
	if err := binary.Read(r, binary.LittleEndian, p.prefixes); err != nil {
		return fmt.Errorf("%w: its index is too short", ErrDamaged)
	}
	return nil
}

// trailer is the end of a file.
type trailer struct {
	id            [8]byte
	indexOffset   int64
	indexLength   int64
	indexChecksum uint32
}

func appendHeader(dst []byte, id [8]byte) []byte {
	return append(append(append(dst, magic...), version, 0), id[:]...)
}

func (t *trailer) append(dst []byte) []byte {
	at := len(dst)
	dst = appendHeader(dst, t.id)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(t.indexOffset))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(t.indexLength))
	dst = binary.LittleEndian.AppendUint32(dst, t.indexChecksum)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[at:], castagnoli))
}

// parseTrailer parses the last trailerBytes of a file of fileSize bytes, and checks them with the header.
func parseTrailer(header, end []byte, fileSize int64) (t trailer, err error) {
	if string(end[:len(magic)]) != magic || !bytes.Equal(header, end[:headerBytes]) {
		return t, fmt.Errorf("%w: it has no header and trailer with one id", ErrDamaged)
	}
	if end[len(magic)] != version {
		return t, fmt.Errorf("the row file has version %d, but this program reads version %d: %w", end[len(magic)], version, ErrDamaged)
	}
	body, sum := end[:trailerBytes-checksumLen], end[trailerBytes-checksumLen:]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(sum) {
		return t, fmt.Errorf("%w: the checksum of its trailer does not match", ErrDamaged)
	}
	copy(t.id[:], end[8:])
	t.indexOffset = int64(binary.LittleEndian.Uint64(end[16:]))
	t.indexLength = int64(binary.LittleEndian.Uint64(end[24:]))
	t.indexChecksum = binary.LittleEndian.Uint32(end[32:])
	if t.indexOffset < headerBytes || t.indexLength < 0 || t.indexOffset+t.indexLength != fileSize-trailerBytes {
		return t, fmt.Errorf("%w: its index is not before its trailer", ErrDamaged)
	}
	return t, nil
}
