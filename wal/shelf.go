package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// A shelf knows which segments there are, and which of them may go.
//
// The committer adds a segment when it begins one; the sweeper moves the oldest
// live one to the archive and unlinks the oldest archived one. Files go whole and
// oldest first, so a crash at any moment leaves a log without gaps.
type shelf struct {
	dir  string
	kick chan struct{} // holds at most one token

	mu        sync.Mutex // guards what follows; held across no call to the disk
	live      []uint64
	archived  []uint64
	oldest    uint64 // first entry that snapshots need
	keepAfter int64  // unix nanoseconds; archived entries before it may go
	lastBegan time.Time
	pace      time.Duration // between the beginnings of the last two segments
}

// Pauses between two steps of the sweeper.
const (
	sweepShortest = 5 * time.Millisecond
	sweepLongest  = 500 * time.Millisecond
)

func newShelf(dir string) (*shelf, error) {
	segments, err := Segments(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot list the log: %w", err)
	}
	s := &shelf{dir: dir, kick: make(chan struct{}, 1), lastBegan: time.Now(), pace: 2 * sweepLongest}
	for _, seg := range segments {
		if seg.Archived {
			s.archived = append(s.archived, seg.First)
		} else {
			s.live = append(s.live, seg.First)
		}
	}
	return s, nil
}

func (s *shelf) began(first uint64) {
	now := time.Now()
	s.mu.Lock()
	s.live = append(s.live, first)
	s.pace, s.lastBegan = now.Sub(s.lastBegan), now
	s.mu.Unlock()
	s.wake()
}

func (s *shelf) count() (live, archived int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.live), len(s.archived)
}

func (s *shelf) wake() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// pause is half of the time in which a segment appears: each step may move one and
// remove one.
func (s *shelf) pause() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return min(max(s.pace/2, sweepShortest), sweepLongest)
}

// step moves at most one segment and unlinks at most one.
func (s *shelf) step() (did bool, err error) {
	if first := s.movable(); first > 0 {
		if err := s.archive(first); err != nil {
			return false, err
		}
		did = true
	}
	first, follows, keepAfter := s.oldestArchived()
	if first == 0 || keepAfter == 0 {
		return did, nil
	}
	// The next segment's first time is no less than this one's last.
	at, ok, err := firstTime(s.dir, follows)
	if err != nil || !ok || at >= keepAfter {
		return did, err
	}
	return true, s.unlink(first)
}

// movable is the oldest live segment where it may go, else 0.
func (s *shelf) movable() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.live) > 2 && s.live[1] <= s.oldest {
		return s.live[0]
	}
	return 0
}

// oldestArchived is the oldest archived segment, 0 without one, and the one after it.
func (s *shelf) oldestArchived() (first, follows uint64, keepAfter int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(s.archived) == 0:
		return 0, 0, s.keepAfter
	case len(s.archived) == 1:
		return s.archived[0], s.live[0], s.keepAfter
	}
	return s.archived[0], s.archived[1], s.keepAfter
}

func (s *shelf) archive(first uint64) error {
	if err := makeDir(archiveDir(s.dir)); err != nil {
		return err
	}
	if err := moveFile(livePath(s.dir, first), archivePath(s.dir, first)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = slices.Delete(s.live, 0, 1)
	s.archived = append(s.archived, first)
	return nil
}

func (s *shelf) unlink(first uint64) error {
	if err := os.Remove(archivePath(s.dir, first)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := syncDir(archiveDir(s.dir)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.archived = slices.Delete(s.archived, 0, 1)
	return nil
}

// firstTime reads the time of a segment's first entry; ok is false where it is empty.
func firstTime(dir string, first uint64) (at int64, ok bool, err error) {
	f, err := openSegment(dir, first)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	var head [3 + headerSize]byte
	n, err := f.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, false, err
	}
	_, w := binary.Uvarint(head[:n])
	if w <= 0 || n < w+headerSize || [3]byte(head[w:w+3]) != magic {
		return 0, false, nil
	}
	return int64(binary.LittleEndian.Uint64(head[w+24:])), true, nil
}
