//go:build linux

package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"

	"pingpost/wal"
)

// frame is the place of a record in the log. It knows only as much of the format (wal/doc.go)
// as the faults need.
type frame struct {
	path       string // path of the segment
	at, size   int64  // with the length before it
	data       int64  // start of the frame itself
	seq, batch uint64
}

// frameHead is the size of a frame's header; frameSum is the checksum's offset in it.
const (
	frameHead = 40
	frameSum  = 36
)

// readFrames reads the frames of all live segments.
func readFrames(dir string) ([]frame, error) {
	segments, err := wal.Segments(dir)
	if err != nil {
		return nil, err
	}
	var all []frame
	for _, s := range segments {
		if s.Archived {
			continue
		}
		text, err := os.ReadFile(s.Path)
		if err != nil {
			return nil, err
		}
		some, err := splitFrames(s.Path, text)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// splitFrames returns the frames of a segment up to its end or the first incomplete one.
func splitFrames(path string, text []byte) (all []frame, err error) {
	for at := 0; at < len(text); {
		size, n := binary.Uvarint(text[at:])
		if n <= 0 || uint64(len(text)-at-n) < size {
			return all, nil
		}
		if size < frameHead {
			return all, fmt.Errorf("%s: no frame at %d", path, at)
		}
		head := text[at+n:]
		all = append(all, frame{
			path: path, at: int64(at), size: int64(n) + int64(size), data: int64(at + n),
			seq: binary.LittleEndian.Uint64(head[8:]), batch: binary.LittleEndian.Uint64(head[16:]),
		})
		at += n + int(size)
	}
	return all, nil
}

// nextRecord returns a valid record that could follow the last one of text: a copy with the
// next sequence number, in a batch of its own, with a correct checksum.
func nextRecord(last frame, text []byte) []byte {
	next := append([]byte(nil), text[last.at:last.at+last.size]...)
	head := next[last.data-last.at:]
	binary.LittleEndian.PutUint64(head[8:], last.seq+1)
	binary.LittleEndian.PutUint64(head[16:], last.seq+1)
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(crc32.Checksum(head[:frameSum], table), table, head[frameHead:])
	binary.LittleEndian.PutUint32(head[frameSum:], sum)
	return next
}
