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

	"pingpost/internal/durable"
	"pingpost/internal/timer"
)

// archiver keeps the list of the log's segments. It moves old segments to the archive and
// deletes the oldest archived segments.
//
// The committer adds a segment when it begins one. The archiver's goroutine does the moving
// and deleting. It handles whole files, oldest first, so a crash at any moment leaves a log
// without gaps.
type archiver struct {
	dir    string
	wakeup chan struct{} // holds at most one token

	mu        sync.Mutex // guards the fields below; not held during disk operations
	live      []uint64
	archived  []uint64
	oldest    uint64 // first entry that snapshots need
	keepAfter int64  // unix nanoseconds; archived entries before it may be deleted
	lastAdded time.Time
	interval  time.Duration // between the beginnings of the last two segments
}

// Limits of the pause between two steps.
const (
	minArchivePause = 5 * time.Millisecond
	maxArchivePause = 500 * time.Millisecond
)

func newSegmentArchiver(logFolder string) (*archiver, error) {
	segments, err := Segments(logFolder)
	if err != nil {
		return nil, fmt.Errorf("cannot list the log: %w", err)
	}
	a := &archiver{dir: logFolder, wakeup: make(chan struct{}, 1), lastAdded: time.Now(), interval: 2 * maxArchivePause}
	for _, seg := range segments {
		if seg.Archived {
			a.archived = append(a.archived, seg.First)
		} else {
			a.live = append(a.live, seg.First)
		}
	}
	return a, nil
}

// addNewSegment records the segment that the committer has just begun. Its first entry is
// firstEntry. The archiver later moves the oldest such segment to the archive.
func (a *archiver) addNewSegment(firstEntry uint64) {
	now := time.Now()
	a.mu.Lock()
	a.live = append(a.live, firstEntry)
	a.interval, a.lastAdded = now.Sub(a.lastAdded), now
	a.mu.Unlock()
	a.wakeArchiveLoop()
}

func (a *archiver) countSegments() (live, archived int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.live), len(a.archived)
}

func (a *archiver) wakeArchiveLoop() {
	select {
	case a.wakeup <- struct{}{}:
	default:
	}
}

// pauseBeforeNextStep returns the pause before the archiver's next step: half of the time
// between the last two new segments, within fixed limits. A step moves at most one segment
// and deletes at most one, so the archiver keeps up with the committer.
func (a *archiver) pauseBeforeNextStep() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return min(max(a.interval/2, minArchivePause), maxArchivePause)
}

// archiveOneAndDeleteOne is one step of the archiver. It moves at most one segment to the archive
// and deletes at most one archived segment. changed reports whether it moved or deleted a
// segment.
func (a *archiver) archiveOneAndDeleteOne() (changed bool, err error) {
	if first := a.oldestArchivableSegment(); first > 0 {
		if err := a.moveToArchive(first); err != nil {
			return false, err
		}
		changed = true
	}
	first, follows, keepAfter := a.oldestArchivedSegment()
	if first == 0 || keepAfter == 0 {
		return changed, nil
	}
	// The next segment's first time is no less than this one's last.
	at, ok, err := timeOfFirstEntry(a.dir, follows)
	if err != nil || !ok || at >= keepAfter {
		return changed, err
	}
	return true, a.deleteFromArchive(first)
}

// oldestArchivableSegment returns the first entry of the oldest live segment if snapshots no
// longer need that segment. Otherwise it returns 0. The two newest segments always stay live.
func (a *archiver) oldestArchivableSegment() (firstEntry uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.live) > 2 && a.live[1] <= a.oldest {
		return a.live[0]
	}
	return 0
}

// oldestArchivedSegment returns the first entries of the oldest archived segment (0: the archive is
// empty) and of the segment after it. It also returns deletableBeforeNanos: archived entries before
// that time may be deleted. 0 allows no deletion.
func (a *archiver) oldestArchivedSegment() (firstEntry, firstEntryOfNext uint64, deletableBeforeNanos int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case len(a.archived) == 0:
		return 0, 0, a.keepAfter
	case len(a.archived) == 1:
		return a.archived[0], a.live[0], a.keepAfter
	}
	return a.archived[0], a.archived[1], a.keepAfter
}

func (a *archiver) moveToArchive(segment uint64) error {
	if err := durable.MakeFolder(archiveDir(a.dir)); err != nil {
		return err
	}
	if err := moveFileOrCompleteMove(livePath(a.dir, segment), archivePath(a.dir, segment)); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.live = slices.Delete(a.live, 0, 1)
	a.archived = append(a.archived, segment)
	return nil
}

func (a *archiver) deleteFromArchive(segment uint64) error {
	if err := os.Remove(archivePath(a.dir, segment)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := durable.SyncFolder(archiveDir(a.dir)); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.archived = slices.Delete(a.archived, 0, 1)
	return nil
}

// timeOfFirstEntry returns the time of a segment's first entry in unix nanoseconds. ok is
// false if the segment has no complete entry header yet. It does not verify the checksum.
func timeOfFirstEntry(dir string, segment uint64) (at int64, ok bool, err error) {
	f, err := openSegmentOrArchived(dir, segment)
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

// RaiseArchiveAndDeletionLimits lets the archiver remove old segments in the background. Live segments
// whose entries are all before entry oldestNeededEntry move to the archive. Archived segments
// whose entries are all older than keepAfterNanos (unix nanoseconds) are deleted. A call can only
// raise the two bounds; a lower value has no effect.
//
// The two newest segments always stay live. The oldest segments go first, one at a time. The
// pause between two is half of the last interval between new segments, from 5 to 500 ms.
func (l *Log) RaiseArchiveAndDeletionLimits(oldestNeededEntry uint64, keepAfterNanos int64) {
	l.archiver.mu.Lock()
	l.archiver.oldest = max(l.archiver.oldest, oldestNeededEntry)
	l.archiver.keepAfter = max(l.archiver.keepAfter, keepAfterNanos)
	l.archiver.mu.Unlock()
	l.archiver.wakeArchiveLoop()
}

func (l *Log) archiveLoop() {
	defer l.side.Done()
	for {
		select {
		case <-l.stop:
			return
		case <-l.archiver.wakeup:
		}
		for {
			changed, err := l.archiver.archiveOneAndDeleteOne()
			if err != nil {
				l.log.Warn("cannot archive or delete an old log segment; it stays until the next attempt", "error", err)
			}
			if !changed || err != nil {
				break
			}
			select {
			case <-l.stop:
				return
			case <-timer.After(l.archiver.pauseBeforeNextStep()):
			}
		}
	}
}
