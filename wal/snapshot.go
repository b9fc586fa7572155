package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"
	"slices"
)

// A snapshot file is a sequence of blocks, the last one a trailer. Integers are
// little-endian.
//
//	 0       3   4    5    6       8       12      16
//	+-------+---+----+----+-------+-------+-------+-----------+
//	| magic |ver|kind|ends|   0   | index | length|  payload  | crc (4 bytes)
//	+-------+---+----+----+-------+-------+-------+-----------+
//
//	magic   FF 53 4E
//	ver     1
//	kind    1 data, 2 trailer
//	ends    1 if a section ends with this block
//	index   of the block, from 0
//	length  of the payload, at most 1 MiB
//	crc     CRC-32C of all bytes of the block before it
//
//	trailer: LastInAllSections, Newest, Sections and Bytes of SnapshotInfo (8 bytes each), then Meta
//
// The file ends with the trailer: a file without one is unfinished.
const (
	snapshotSuffix  = ".snap"
	snapshotVersion = 1
	blockHeader     = 16
	blockData       = 1 << 20
	trailerFixed    = 32
	maxMeta         = blockData - trailerFixed
	kindData        = 1
	kindTrailer     = 2
)

var snapshotMagic = [3]byte{0xFF, 'S', 'N'}

// SnapshotInfo describes a snapshot file, as its trailer (last block) does.
type SnapshotInfo struct {
	Path              string
	LastInAllSections uint64 // every section contains this entry: replay starts after it
	Newest            uint64 // no section contains a later entry; also the name of the file
	Sections          uint64
	Bytes             uint64 // of data
	Meta              []byte // of the caller of Commit
}

// BadSnapshot is a snapshot file that cannot be read or is damaged.
type BadSnapshot struct {
	Path string
	Err  error
}

// snapshotBlock is one block of a snapshot file: data of a section, or the trailer. ends
// marks the last block of a section.
type snapshotBlock struct {
	kind    byte
	ends    bool
	index   uint32
	payload []byte
}

// appendBlock appends the block to dst, in the format of the file and with its checksum.
func appendBlock(dst []byte, b snapshotBlock) []byte {
	at := len(dst)
	dst = append(dst, snapshotMagic[0], snapshotMagic[1], snapshotMagic[2], snapshotVersion, b.kind, 0, 0, 0)
	if b.ends {
		dst[at+5] = 1
	}
	dst = binary.LittleEndian.AppendUint32(dst, b.index)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(b.payload)))
	dst = append(dst, b.payload...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[at:], castagnoli))
}

// parseBlockHeader parses the header of the block with number index. size is the number of
// bytes that follow the header.
func parseBlockHeader(head []byte, index uint32) (b snapshotBlock, bytesAfterHeader int, err error) {
	if [3]byte(head[:3]) != snapshotMagic {
		return b, 0, errors.New("the block has no snapshot block header")
	}
	if head[3] != snapshotVersion {
		return b, 0, fmt.Errorf("the snapshot's block has version %d, but this program reads version %d", head[3], snapshotVersion)
	}
	b = snapshotBlock{kind: head[4], ends: head[5] == 1, index: binary.LittleEndian.Uint32(head[8:])}
	length := binary.LittleEndian.Uint32(head[12:])
	switch {
	case b.kind != kindData && b.kind != kindTrailer, length > blockData:
		return b, 0, errors.New("the block's header is damaged")
	case b.index != index:
		return b, 0, fmt.Errorf("the snapshot's block has number %d, expected number %d", b.index, index)
	}
	return b, int(length) + 4, nil
}

// appendTrailer appends the content of the snapshot's trailer, which describes the snapshot,
// to dst.
func appendTrailer(dst []byte, info SnapshotInfo) []byte {
	for _, v := range []uint64{info.LastInAllSections, info.Newest, info.Sections, info.Bytes} {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return append(dst, info.Meta...)
}

func parseTrailer(path string, payload []byte) (SnapshotInfo, error) {
	if len(payload) < trailerFixed {
		return SnapshotInfo{}, errors.New("the snapshot's trailer is too short")
	}
	return SnapshotInfo{
		Path:              path,
		LastInAllSections: binary.LittleEndian.Uint64(payload),
		Newest:            binary.LittleEndian.Uint64(payload[8:]),
		Sections:          binary.LittleEndian.Uint64(payload[16:]),
		Bytes:             binary.LittleEndian.Uint64(payload[24:]),
		Meta:              slices.Clone(payload[trailerFixed:]),
	}, nil
}

// ListSnapshotFiles lists the snapshot files of a folder by their names, newest first. It does not
// read them: only Path and Newest are set.
func ListSnapshotFiles(dir string) (newestFirst []SnapshotInfo, err error) {
	newest, err := listSequenceNumbers(snapshotDir(dir), snapshotSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot list the snapshots in %q: %w", snapshotDir(dir), err)
	}
	infos := make([]SnapshotInfo, 0, len(newest))
	for _, seq := range slices.Backward(newest) {
		infos = append(infos, SnapshotInfo{Path: snapshotPath(dir, seq), Newest: seq})
	}
	return infos, nil
}

func snapshotPath(dir string, newest uint64) string {
	return filepath.Join(snapshotDir(dir), segmentName(newest)+snapshotSuffix)
}
