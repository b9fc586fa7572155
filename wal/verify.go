package wal

import (
	"errors"
	"fmt"
	"io/fs"
)

// VerifyReport describes a log and its snapshots, with all damage that Verify found.
type VerifyReport struct {
	Segments        int
	Entries         uint64
	Bytes           int64 // of whole records
	First, Last     uint64
	FirstAt, LastAt int64 // unix nanoseconds
	Epoch           uint32

	// Damage lists the places where entries are lost, in order. After the first damage in a
	// segment, Verify does not check the rest of that segment.
	Damage []*DamageError
	// Torn is an unfinished end. A crash leaves one, and a log that is being written may
	// show one for a moment. Open cuts it.
	Torn *DamageError

	Snapshots    []SnapshotInfo // newest first
	BadSnapshots []BadSnapshot

	prevDamaged bool // the previous segment is damaged, so its last entry is unknown
}

// OK reports whether the log and all snapshots are undamaged. An unfinished last write (Torn)
// is not damage.
func (r *VerifyReport) OK() bool { return len(r.Damage) == 0 && len(r.BadSnapshots) == 0 }

// Verify reads and checks all segments, including archived ones, and all snapshots of a
// folder. It changes no file and takes no lock, so the log may be in use. Damage is in the
// report. The error is an I/O error, or a *VersionError for a segment of a later version. It calls
// progress, unless that is nil, before each segment with the number of segments read and of all.
func Verify(dir string, progress func(doneSegments, allSegments int64)) (VerifyReport, error) {
	if progress == nil {
		progress = func(_, _ int64) {}
	}
	for {
		r, err := verifyOnce(dir, progress)
		if !errors.Is(err, errHistoryMoved) {
			return r, err
		}
	}
}

// errHistoryMoved means that a segment and all before it were deleted after the folder was
// listed, so the entries read so far are no longer the beginning of the log.
var errHistoryMoved = errors.New("log segments were deleted during the check; run it again")

func verifyOnce(dir string, progress func(doneSegments, allSegments int64)) (VerifyReport, error) {
	var r VerifyReport
	segments, err := Segments(dir)
	if err != nil {
		return r, fmt.Errorf("cannot list the log in %q: %w", dir, err)
	}
	var c cursor
	defer c.close()
	for i, s := range segments {
		progress(int64(i), int64(len(segments)))
		if err := r.verifySegment(&c, dir, s, i == len(segments)-1); err != nil {
			return r, err
		}
	}
	r.Last, r.LastAt, r.Epoch = c.chain.seq, c.chain.at, c.chain.epoch
	snapshots, err := ListSnapshotFiles(dir)
	if err != nil {
		return r, err
	}
	for _, info := range snapshots {
		whole, err := verifySnapshot(info.Path, newThrottle(0))
		if err != nil {
			r.BadSnapshots = append(r.BadSnapshots, BadSnapshot{Path: info.Path, Err: err})
			continue
		}
		r.Snapshots = append(r.Snapshots, whole)
	}
	return r, nil
}

func (r *VerifyReport) verifySegment(c *cursor, dir string, s Segment, last bool) error {
	f, err := openSegmentOrArchived(dir, s.First)
	if errors.Is(err, fs.ErrNotExist) && isBeforeOldestSegment(dir, s) {
		return errHistoryMoved
	}
	if err != nil {
		return fmt.Errorf("cannot read the log: %w", err)
	}
	if r.Segments > 0 && s.First != c.nextSeq() && !r.prevDamaged {
		r.Damage = append(r.Damage, misplacedError(s, c.nextSeq()))
	}
	if r.Segments > 0 && s.First != c.nextSeq() {
		c.chain = frameOrderChecker{} // check the segment independently of the one before
	}
	r.prevDamaged = false
	c.switchToSegmentFile(f, s.First)
	r.Segments++
	err = readOpenedSegment(c, func(h frameHeader, _ []byte) {
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
		if err := markIfTornTail(damage); err != nil {
			return err
		}
	}
	if damage.Torn {
		r.Torn = damage
		return nil
	}
	r.Damage = append(r.Damage, damage)
	r.prevDamaged = true
	return nil
}

// isBeforeOldestSegment reports whether segment s no longer exists because it was deleted as
// too old: the oldest segment is now a later one.
func isBeforeOldestSegment(dir string, s Segment) bool {
	segments, err := Segments(dir)
	return err == nil && len(segments) > 0 && segments[0].First > s.First
}
