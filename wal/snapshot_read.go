package wal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// SnapshotReader reads a snapshot, section by section. OpenNewestValidSnapshot has verified the whole
// file, so the caller never loads half of a damaged one. It is not safe for concurrent use.
type SnapshotReader struct {
	SnapshotInfo
	// Bad lists newer snapshots that did not verify.
	Bad []BadSnapshot

	f      *os.File
	blocks blockReader
	left   []byte // unread data of the current block
	ends   bool   // the section ends with this block
	done   bool   // no section is open: the last one was read, or Next was not called yet
}

// OpenNewestValidSnapshot opens the newest valid snapshot in the folder. It reads and verifies each
// candidate completely first. If no snapshot is valid, the error is a *NoSnapshotError.
// Invalid files stay in place; see Log.QuarantineSnapshots.
func OpenNewestValidSnapshot(dir string) (*SnapshotReader, error) {
	infos, err := ListSnapshotFiles(dir)
	if err != nil {
		return nil, err
	}
	var bad []BadSnapshot
	for _, info := range infos {
		s, err := verifyAndOpenSnapshot(info)
		if err == nil {
			s.Bad = bad
			return s, nil
		}
		bad = append(bad, BadSnapshot{Path: info.Path, Err: err})
	}
	return nil, &NoSnapshotError{Dir: snapshotDir(dir), Bad: bad}
}

func verifyAndOpenSnapshot(want SnapshotInfo) (*SnapshotReader, error) {
	info, err := verifySnapshot(want.Path, newThrottle(0))
	if err != nil {
		return nil, err
	}
	if info.Newest != want.Newest {
		return nil, fmt.Errorf("snapshot %q has the wrong name: the newest entry in it is %d", want.Path, info.Newest)
	}
	f, err := os.Open(want.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the snapshot: %w", err)
	}
	return &SnapshotReader{SnapshotInfo: info, f: f, blocks: newBlockReader(f), done: true}, nil
}

// Next returns a reader of the next section, or io.EOF after the last one. It skips the
// unread rest of the section before, whose reader becomes invalid.
func (s *SnapshotReader) Next() (io.Reader, error) {
	if !s.done {
		if _, err := io.Copy(io.Discard, sectionReader{s}); err != nil {
			return nil, err
		}
	}
	b, err := s.blocks.next()
	if err != nil {
		return nil, fmt.Errorf("cannot read snapshot %q: %w", s.Path, err)
	}
	if b.kind == kindTrailer {
		return nil, io.EOF
	}
	s.left, s.ends, s.done = b.payload, b.ends, false
	return sectionReader{s}, nil
}

// Close closes the snapshot's file.
func (s *SnapshotReader) Close() error { return s.f.Close() }

// sectionReader is the io.Reader that SnapshotReader.Next returns, for the data of one section.
type sectionReader struct{ s *SnapshotReader }

func (r sectionReader) Read(p []byte) (int, error) {
	s := r.s
	for len(s.left) == 0 {
		if s.ends || s.done {
			s.done = true
			return 0, io.EOF
		}
		b, err := s.blocks.next()
		if err != nil {
			return 0, fmt.Errorf("cannot read snapshot %q: %w", s.Path, err)
		}
		s.left, s.ends = b.payload, b.ends
	}
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}

// blockReader reads and verifies the blocks of a snapshot file in order. A block's payload is
// valid until the next block is read.
type blockReader struct {
	r     *bufio.Reader
	index uint32
	buf   []byte
}

func newBlockReader(f io.Reader) blockReader {
	return blockReader{r: bufio.NewReaderSize(f, 64<<10), buf: make([]byte, blockHeader+blockData+4)}
}

func (r *blockReader) next() (snapshotBlock, error) {
	head := r.buf[:blockHeader]
	if _, err := io.ReadFull(r.r, head); err != nil {
		return snapshotBlock{}, fmt.Errorf("cannot read the snapshot up to its trailer: %w", err)
	}
	b, size, err := parseBlockHeader(head, r.index)
	if err != nil {
		return b, err
	}
	whole := r.buf[:blockHeader+size]
	if _, err := io.ReadFull(r.r, whole[blockHeader:]); err != nil {
		return b, fmt.Errorf("cannot read the snapshot's block %d to its end: %w", r.index, err)
	}
	body, sum := whole[:len(whole)-4], whole[len(whole)-4:]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(sum) {
		return b, fmt.Errorf("the checksum of the snapshot's block %d does not match", r.index)
	}
	b.payload = body[blockHeader:]
	r.index++
	return b, nil
}

// verifySnapshot reads a snapshot file completely, as fast as the throttle allows, and
// verifies it.
func verifySnapshot(path string, pace *throttle) (SnapshotInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return SnapshotInfo{}, fmt.Errorf("cannot open the snapshot: %w", err)
	}
	defer f.Close()
	if pace.rate > 0 {
		if err := disableReadAhead(f); err != nil {
			return SnapshotInfo{}, fmt.Errorf("cannot disable read-ahead for snapshot %q: %w", path, err)
		}
	}
	r := newBlockReader(f)
	info, err := checkBlocks(path, &r, pace)
	if err != nil {
		return info, fmt.Errorf("snapshot %q is damaged: %w", path, err)
	}
	return info, nil
}

func checkBlocks(path string, r *blockReader, pace *throttle) (SnapshotInfo, error) {
	var sections, bytes uint64
	for {
		b, err := r.next()
		if err != nil {
			return SnapshotInfo{}, err
		}
		if b.kind == kindTrailer {
			info, err := parseTrailer(path, b.payload)
			if err != nil {
				return info, err
			}
			if _, err := r.r.ReadByte(); !errors.Is(err, io.EOF) {
				return info, errors.New("the snapshot file has bytes after its trailer")
			}
			if info.Sections != sections || info.Bytes != bytes {
				return info, fmt.Errorf("the snapshot has %d sections and %d bytes of data, but its trailer records %d and %d", sections, bytes, info.Sections, info.Bytes)
			}
			return info, nil
		}
		bytes += uint64(len(b.payload))
		if b.ends {
			sections++
		}
		pace.countBytesAndSleep(len(b.payload))
	}
}
