package wal

import (
	"errors"
	"fmt"
	"io/fs"

	"pingpost/internal/timer"
)

// scrubRate is the rate in bytes a second at which the scrubber reads history.
const scrubRate = 64 << 20

// verifyOldSegments checks, once after a start, the old segments that Open has not read. Damage in
// them does not affect a replay, because the snapshots contain their entries. But a new backup and
// a rebuild of the report need them. The loop logs and counts damage, so that the operator keeps
// the existing backup.
func (l *Log) verifyOldSegments() {
	defer l.side.Done()
	segments, err := Segments(l.dir)
	if err != nil {
		l.log.Warn("cannot list the log's older segments to check them for damage; run pingpost log verify on this folder", "error", err)
		return
	}
	older := max(0, indexOfSegmentWith(segments, max(1, l.opt.From)-1))
	pace := newThrottle(scrubRate)
	c := new(cursor)
	defer c.close()
	for i, s := range segments[:older] {
		c.chain = frameOrderChecker{}
		read, err := verifySegmentFile(c, l.dir, s, segments[i+1].First)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted since the listing
		}
		l.countScrubbedAndReportDamage(err)
		select {
		case <-l.stop:
			return
		case <-timer.After(pace.countBytesAndReturnDelay(read)):
		}
	}
}

// verifySegmentFile checks segment s completely, and that it ends right before entry
// nextFirst, with which the next segment begins.
func verifySegmentFile(c *cursor, dir string, s Segment, nextFirst uint64) (bytesRead int, err error) {
	f, err := openSegmentOrArchived(dir, s.First)
	if err != nil {
		return 0, err
	}
	s.Path = f.Name()
	c.switchToSegmentFile(f, s.First)
	if err := readOpenedSegment(c, nil); err != nil {
		return int(c.off), err
	}
	if c.nextSeq() != nextFirst {
		return int(c.off), &DamageError{
			Segment: s.First, Path: s.Path, Offset: c.off, Seq: c.nextSeq(),
			Reason: fmt.Sprintf("the segment ends here, but the next one begins with entry %d", nextFirst),
		}
	}
	return int(c.off), nil
}

func (l *Log) countScrubbedAndReportDamage(err error) {
	l.mu.Lock()
	l.stats.Scrubbed++
	if err != nil {
		l.stats.Damaged++
	}
	l.mu.Unlock()
	if err != nil {
		l.log.Error("an old segment of the log is damaged (found by the log's check after the start); keep the existing backup, because a new one cannot read this segment (runbook: \"An old segment of the log is damaged\")", "error", err)
	}
}
