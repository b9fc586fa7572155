//go:build linux

package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"

	"pingpost/wal"
)

// frame is where a record of the log stands. Of its bytes (wal/doc.go) no more is
// known here than it takes to damage it.
type frame struct {
	path       string // of the segment
	at, size   int64  // with the length before it
	data       int64  // where the frame itself begins
	seq, batch uint64
}

// frameHead is what stands before a frame's data; frameSum is where its checksum is.
const (
	frameHead = 40
	frameSum  = 36
)

// framesOf reads the live segments.
func framesOf(dir string) ([]frame, error) {
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
		some, err := split(s.Path, text)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// split finds the frames of a segment, up to its end or one that is not whole.
func split(path string, text []byte) (all []frame, err error) {
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

// successor is a record that could stand behind the last one of text: the last one's
// own, under the next sequence, in a batch of its own. Its checksum holds.
func successor(last frame, text []byte) []byte {
	next := append([]byte(nil), text[last.at:last.at+last.size]...)
	head := next[last.data-last.at:]
	binary.LittleEndian.PutUint64(head[8:], last.seq+1)
	binary.LittleEndian.PutUint64(head[16:], last.seq+1)
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(crc32.Checksum(head[:frameSum], table), table, head[frameHead:])
	binary.LittleEndian.PutUint32(head[frameSum:], sum)
	return next
}
