package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// recovered finds out how far the log in dir is whole, cuts a torn tail, and
// writes the last segment anew. The caller holds the lock.
//
// The rewrite is not for the cut's sake. After an fsync that failed, the page cache
// goes on showing bytes that the disk does not have, marked clean; a restart that
// read them and believed them would lose them in the next power cut. A copy of them
// is dirty, and its fsync is honest.
func recovered(dir string, opt Options) (tail, error) {
	if err := checkNames(dir); err != nil {
		return tail{}, err
	}
	if err := os.Remove(filepath.Join(logDir(dir), "copy.tmp")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tail{}, err
	}
	segments, err := Segments(dir)
	if err != nil {
		return tail{}, fmt.Errorf("cannot list the log: %w", err)
	}
	if err := ensureFirst(dir, &segments, opt); err != nil {
		return tail{}, err
	}
	t, err := scan(segments, opt.From, nil)
	var torn *DamageError
	if errors.As(err, &torn) && torn.Torn {
		err = nil
	}
	if err != nil {
		return t, err
	}
	if known := max(opt.AtLeast, max(1, opt.From)-1); t.chain.seq < known {
		return t, &DamageError{
			Segment: t.seg.First, Path: t.seg.Path, Offset: t.size, Seq: t.chain.seq + 1,
			Reason: fmt.Sprintf("the log ends with entry %d, and a snapshot has seen entry %d", t.chain.seq, known),
		}
	}
	if torn != nil {
		if err := keepTail(dir, t, torn, opt); err != nil {
			return t, err
		}
	}
	if err := replaceFile(t.seg.Path, t.seg.Path, t.size); err != nil {
		return t, fmt.Errorf("cannot rewrite the last log segment: %w", err)
	}
	err = beginNext(dir, &t, opt.SegmentSize)
	return t, err
}

// ensureFirst makes the first segment of a new log.
func ensureFirst(dir string, segments *[]Segment, opt Options) error {
	n := len(*segments)
	if n > 0 && !(*segments)[n-1].Archived {
		return nil
	}
	if n > 0 || !opt.isOfNewLog() {
		return &DamageError{
			Segment: max(opt.From, 1), Seq: max(opt.From, 1),
			Reason: fmt.Sprintf("the folder %q is empty, though there is an archive or a snapshot", logDir(dir)),
		}
	}
	first := Segment{First: 1, Path: livePath(dir, 1)}
	if err := createSegment(first.Path); err != nil {
		return err
	}
	*segments = append(*segments, first)
	return nil
}

// beginNext makes the segment after one that is full, so that tidwall's log never
// has to begin one in the middle of a first batch.
func beginNext(dir string, t *tail, size int) error {
	if t.size < int64(size) {
		return nil
	}
	next := t.chain.seq + 1
	t.seg, t.size, t.file = Segment{First: next, Path: livePath(dir, next)}, 0, 0
	return createSegment(t.seg.Path)
}

func createSegment(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close(), syncDir(filepath.Dir(path)))
	}
	if err != nil {
		return fmt.Errorf("cannot create log segment %q: %w", path, err)
	}
	return nil
}

// keepTail copies the segment as it was found, before its torn tail is cut.
func keepTail(dir string, t tail, torn *DamageError, opt Options) error {
	if err := makeDir(damageDir(dir)); err != nil {
		return err
	}
	kept := filepath.Join(damageDir(dir), fmt.Sprintf("%s.%d.torn", segmentName(t.seg.First), opt.Now()))
	if err := replaceFile(kept, t.seg.Path, t.file); err != nil {
		return fmt.Errorf("cannot keep a copy of the torn log segment: %w", err)
	}
	opt.Logger.Warn("the log's last write was torn by a crash; it was never acknowledged, and is cut",
		"segment", t.seg.Path, "offset", t.size, "bytes", t.file-t.size, "due", torn.Seq, "reason", torn.Reason, "copy", kept)
	return nil
}
