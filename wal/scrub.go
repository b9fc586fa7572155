package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// scrubRate is how fast history is checked, in bytes a second.
const scrubRate = 64 << 20

// scrubLoop checks, once, the segments before those that Open has read. Damage there
// threatens no replay: the snapshots stand behind it. It is told, so that a backup is
// made while there is time, and counted.
func (l *Log) scrubLoop() {
	defer l.side.Done()
	segments, err := Segments(l.dir)
	if err != nil {
		l.log.Warn("cannot check the log's history", "error", err)
		return
	}
	older := max(0, holding(segments, max(1, l.opt.From)-1))
	pace := newPacer(scrubRate)
	c := new(cursor)
	defer c.close()
	for i, s := range segments[:older] {
		c.chain = chain{}
		read, err := scrub(c, l.dir, s, segments[i+1].First)
		if errors.Is(err, fs.ErrNotExist) {
			continue // past its history meanwhile
		}
		l.countScrub(err)
		select {
		case <-l.stop:
			return
		case <-time.After(pace.delay(read)):
		}
	}
}

// scrub checks a segment behind which another begins with entry next.
func scrub(c *cursor, dir string, s Segment, next uint64) (read int, err error) {
	f, err := openSegment(dir, s.First)
	if err != nil {
		return 0, err
	}
	s.Path = f.Name()
	c.enter(f, s.First)
	if err := scanOpened(c, nil); err != nil {
		return int(c.off), err
	}
	if c.due() != next {
		return int(c.off), &DamageError{
			Segment: s.First, Path: s.Path, Offset: c.off, Seq: c.due(),
			Reason: fmt.Sprintf("the segment ends, and the next one begins with entry %d", next),
		}
	}
	return int(c.off), nil
}

func (l *Log) countScrub(err error) {
	l.mu.Lock()
	l.stats.Scrubbed++
	if err != nil {
		l.stats.Damaged++
	}
	l.mu.Unlock()
	if err != nil {
		l.log.Error("the log's history is damaged; make a backup from a snapshot now", "error", err)
	}
}
