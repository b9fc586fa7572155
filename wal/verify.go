package wal

import (
	"errors"
	"fmt"
	"io/fs"
)

// A Report is what Verify found.
type Report struct {
	Segments        int
	Entries         uint64
	Bytes           int64 // of whole records
	First, Last     uint64
	FirstAt, LastAt int64 // unix nanoseconds
	Epoch           uint32

	// Damage is where entries are lost, one for each segment, in order.
	Damage []*DamageError
	// Torn is an unfinished end: what a crash leaves, and what a log that is being
	// written to may show for a moment. Open cuts it.
	Torn *DamageError

	Snapshots    []SnapshotInfo // the newest first
	BadSnapshots []BadSnapshot

	broken bool // the segment before this one is damaged: where it ends is not known
}

// OK says that nothing is lost. A torn end is no loss.
func (r *Report) OK() bool { return len(r.Damage) == 0 && len(r.BadSnapshots) == 0 }

// Verify reads a whole folder, archive and snapshots included, and changes nothing.
// It takes no lock: the log may be in use. The error says that it could not read;
// damage is in the report.
func Verify(dir string) (Report, error) {
	for {
		r, err := verify(dir)
		if !errors.Is(err, errPassed) {
			return r, err
		}
	}
}

// errPassed is of a segment that went past its history, with all before it, since the
// folder was listed: what was read so far is no longer where the log begins.
var errPassed = errors.New("the log's history has gone on")

func verify(dir string) (Report, error) {
	var r Report
	segments, err := Segments(dir)
	if err != nil {
		return r, fmt.Errorf("cannot list the log in %q: %w", dir, err)
	}
	var c cursor
	defer c.close()
	for i, s := range segments {
		if err := r.verifySegment(&c, dir, s, i == len(segments)-1); err != nil {
			return r, err
		}
	}
	r.Last, r.LastAt, r.Epoch = c.chain.seq, c.chain.at, c.chain.epoch
	snapshots, err := Snapshots(dir)
	if err != nil {
		return r, err
	}
	for _, info := range snapshots {
		whole, err := verifySnapshot(info.Path, newPacer(0))
		if err != nil {
			r.BadSnapshots = append(r.BadSnapshots, BadSnapshot{Path: info.Path, Err: err})
			continue
		}
		r.Snapshots = append(r.Snapshots, whole)
	}
	return r, nil
}

func (r *Report) verifySegment(c *cursor, dir string, s Segment, last bool) error {
	f, err := openSegment(dir, s.First)
	if errors.Is(err, fs.ErrNotExist) && beginsBehind(dir, s) {
		return errPassed
	}
	if err != nil {
		return fmt.Errorf("cannot read the log: %w", err)
	}
	if r.Segments > 0 && s.First != c.due() && !r.broken {
		r.Damage = append(r.Damage, misplaced(s, c.due()))
	}
	if r.Segments > 0 && s.First != c.due() {
		c.chain = chain{} // it begins anew
	}
	r.broken = false
	c.enter(f, s.First)
	r.Segments++
	err = scanOpened(c, func(h header, _ []byte) {
		if r.Entries == 0 {
			r.First, r.FirstAt = h.seq, h.at
		}
		r.Entries++
	})
	r.Bytes += c.off
	var damage *DamageError
	if !errors.As(err, &damage) {
		return err
	}
	if last {
		if err := classify(damage); err != nil {
			return err
		}
	}
	if damage.Torn {
		r.Torn = damage
		return nil
	}
	r.Damage = append(r.Damage, damage)
	r.broken = true
	return nil
}

// beginsBehind tells whether the oldest segment is a later one.
func beginsBehind(dir string, s Segment) bool {
	segments, err := Segments(dir)
	return err == nil && len(segments) > 0 && segments[0].First > s.First
}
