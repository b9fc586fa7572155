package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"pingpost/internal/durable"
)

// recoverTail finds the end of the intact log in dir, cuts off an unfinished last write, and
// rewrites the last segment. The caller holds the lock of dir.
//
// It always rewrites the segment. After a failed fsync the page cache still shows bytes,
// marked clean, that the disk does not have. A restart that trusted them would lose them at
// the next power loss. A copy is dirty, so its fsync writes it.
func recoverTail(dir string, opt Options) (logEnd, error) {
	if err := rejectFilesThatLoseEntries(dir); err != nil {
		return logEnd{}, err
	}
	if err := os.Remove(filepath.Join(logDir(dir), "copy.tmp")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return logEnd{}, err
	}
	segments, err := Segments(dir)
	if err != nil {
		return logEnd{}, fmt.Errorf("cannot list the log: %w", err)
	}
	if err := ensureLiveSegment(dir, &segments, opt); err != nil {
		return logEnd{}, err
	}
	end, err := readWholeSegmentsFrom(segments, opt.From, nil)
	var torn *DamageError
	if errors.As(err, &torn) && mayCut(torn, segments, end, opt) {
		err = nil
	}
	if err != nil {
		return end, err
	}
	if err := checkReach(end, opt); err != nil {
		return end, err
	}
	if torn != nil {
		if err := copyTornSegment(dir, end, torn, opt); err != nil {
			return end, err
		}
	}
	if err := copyFileOver(end.seg.Path, end.seg.Path, end.size); err != nil {
		return end, fmt.Errorf("cannot rewrite the last log segment, as each start does to make its entries durable: %w", err)
	}
	err = createNextSegmentIfFull(dir, &end, opt.SegmentSize)
	return end, err
}

// mayCut reports whether recoverTail may cut the log before the damage. The batches of a replica since its
// last Sync may all be damaged, because each of them began without an fsync of the one before. They are in
// the last segment, because full ones are durable.
func mayCut(d *DamageError, segments []Segment, end logEnd, opt Options) bool {
	last := segments[len(segments)-1].First
	return d.Torn || opt.replica && end.seg.First == last && d.Segment == last
}

// checkReach returns an error if the log ends before an entry that it must have.
func checkReach(end logEnd, opt Options) error {
	known, has := max(opt.AtLeast, max(1, opt.From)-1), "a snapshot contains"
	if opt.MustReach > known {
		known, has = opt.MustReach, "the cluster no longer has the entries up to"
	}
	if end.chain.seq >= known {
		return nil
	}
	return &DamageError{
		Segment: end.seg.First, Path: end.seg.Path, Offset: end.size, Seq: end.chain.seq + 1,
		Reason: fmt.Sprintf("the log ends with entry %d, but %s entry %d", end.chain.seq, has, known),
	}
}

// ensureLiveSegment creates the first segment of a new log and adds it to the list. For a
// log that must already have entries but has no live segment, it returns a *DamageError.
func ensureLiveSegment(dir string, segments *[]Segment, opt Options) error {
	n := len(*segments)
	if n > 0 && !(*segments)[n-1].Archived {
		return nil
	}
	if n > 0 || !opt.callerKnowsNoEntries() {
		return &DamageError{
			Segment: max(opt.From, 1), Seq: max(opt.From, 1),
			Reason: fmt.Sprintf("the folder %q has no segments, but an archive or a snapshot exists", logDir(dir)),
		}
	}
	first := Segment{First: 1, Path: livePath(dir, 1)}
	if err := createSegment(first.Path); err != nil {
		return err
	}
	*segments = append(*segments, first)
	return nil
}

// createNextSegmentIfFull creates an empty segment if the last one has reached size bytes, and
// moves end to it. Without it, the tidwall/wal library would rotate inside the first batch.
func createNextSegmentIfFull(dir string, end *logEnd, size int) error {
	if end.size < int64(size) {
		return nil
	}
	next := end.chain.seq + 1
	end.seg, end.size, end.fileSize = Segment{First: next, Path: livePath(dir, next)}, 0, 0
	return createSegment(end.seg.Path)
}

func createSegment(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close(), durable.SyncFolder(filepath.Dir(path)))
	}
	if err != nil {
		return fmt.Errorf("cannot create log segment %q: %w", path, err)
	}
	return nil
}

// copyTornSegment saves a copy of the last segment under damage/ before recoverTail cuts off
// its unfinished last write (the torn tail). It also logs the cut, which follows.
func copyTornSegment(dir string, end logEnd, torn *DamageError, opt Options) error {
	if err := durable.MakeFolder(damageDir(dir)); err != nil {
		return err
	}
	kept := filepath.Join(damageDir(dir), fmt.Sprintf("%s.%d.torn", segmentName(end.seg.First), opt.Now()))
	if err := copyFileOver(kept, end.seg.Path, end.fileSize); err != nil {
		return fmt.Errorf("cannot keep a copy of the torn log segment: %w", err)
	}
	opt.Logger.Warn("cutting off the log's last write, which a crash left incomplete; it was never acknowledged",
		"segment", end.seg.Path, "offset", end.size, "bytes", end.fileSize-end.size, "due", torn.Seq, "reason", torn.Reason, "copy", kept)
	return nil
}
