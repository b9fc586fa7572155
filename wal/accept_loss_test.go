package wal

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// acceptedLoss cuts a log that Open rejects with opt, and reopens it as a start would, with
// the remaining snapshots.
func acceptedLoss(t *testing.T, dir string, opt Options) LossReport {
	t.Helper()
	if _, err := Open(dir, opt); !errors.Is(err, ErrDamaged) {
		t.Fatalf("Open: %v", err)
	}
	loss, err := AcceptLoss(dir, opt)
	if err != nil || loss.Damage == nil {
		t.Fatalf("AcceptLoss: %+v, %v", loss, err)
	}
	again := Options{SegmentSize: opt.SegmentSize}
	s, err := OpenNewestValidSnapshot(dir)
	if err == nil {
		again.From, again.AtLeast = s.LastInAllSections+1, s.Newest
		s.Close()
	}
	l := mustOpen(t, dir, again)
	if seq, _ := l.LastEntry(); seq != loss.Last {
		t.Errorf("the log ends with entry %d, and the loss says %d", seq, loss.Last)
	}
	put(t, l, "next")
	mustClose(t, l)
	return loss
}

// flip damages the last byte of the segment that begins with entry first.
func flip(t *testing.T, dir string, first uint64) {
	t.Helper()
	edit(t, livePath(dir, first), func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
}

// AcceptLoss cuts the log where the start stopped, with or without older damage that no
// start reads, and with or without the history before the snapshot. It moves a snapshot with
// later entries than the log has.
func TestAcceptLossCutsWhereOpenStopped(t *testing.T) {
	for name, c := range map[string]struct {
		oldest, newest uint64 // of the snapshot
		damage         func(t *testing.T, dir string)
		last           uint64 // entry of the log afterwards
		snapshots      int    // that are left
	}{
		"history is whole":              {6, 6, func(t *testing.T, dir string) { flip(t, dir, 7) }, 8, 1},
		"history is damaged":            {6, 6, func(t *testing.T, dir string) { flip(t, dir, 1); flip(t, dir, 7) }, 8, 1},
		"history is trimmed":            {6, 6, func(t *testing.T, dir string) { os.Remove(livePath(dir, 1)); flip(t, dir, 7) }, 8, 1},
		"ends before the snapshot":      {10, 10, func(_ *testing.T, dir string) { os.Remove(livePath(dir, 10)) }, 9, 0},
		"replay starts, ends too early": {7, 12, func(*testing.T, string) {}, 10, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir, opt := threeAFile(t)
			takeSnapshot(t, dir, c.oldest, c.newest)
			opt.From, opt.AtLeast = c.oldest+1, c.newest
			c.damage(t, dir)
			equal(t, "the last entry", acceptedLoss(t, dir, opt).Last, c.last)
			left, err := ListSnapshotFiles(dir)
			equal(t, "snapshots that are left", []any{len(left), err}, []any{c.snapshots, nil})
		})
	}
}

func TestAcceptLossOfArchiveWithoutLiveLog(t *testing.T) {
	dir, opt := threeAFile(t)
	moveToArchive(t, dir, 1, 4, 7, 10)
	equal(t, "the last entry", acceptedLoss(t, dir, opt).Last, 10)
}

// AcceptLoss does not cut a log if no replay would be possible afterwards: then only the
// snapshot, which contains later entries than the log, remains.
func TestAcceptLossRejectsUnreplayableCut(t *testing.T) {
	for name, c := range map[string]struct {
		damage   func(t *testing.T, dir string)
		from, to uint64
	}{
		"the only snapshot contains lost entries": {func(_ *testing.T, dir string) { os.Remove(livePath(dir, 10)) }, 11, 10},
		"no valid snapshot":                       {func(t *testing.T, dir string) { flip(t, dir, 7) }, 1, 0},
		"the log is gone": {func(_ *testing.T, dir string) {
			os.RemoveAll(livePath(dir, 4))
			os.RemoveAll(livePath(dir, 7))
			os.RemoveAll(livePath(dir, 10))
		}, 11, 10},
	} {
		t.Run(name, func(t *testing.T) {
			dir, opt := threeAFile(t)
			takeSnapshot(t, dir, 10, 10)
			os.Remove(livePath(dir, 1))
			c.damage(t, dir)
			opt.From, opt.AtLeast = c.from, c.to
			before := tree(t, dir)
			loss, err := AcceptLoss(dir, opt)
			if err == nil || !strings.Contains(err.Error(), "restore a backup") || loss.Damage != nil {
				t.Errorf("%+v, %v", loss, err)
			}
			equal(t, "files", tree(t, dir), before)
		})
	}
}

func TestAcceptLossOfEmptyFolder(t *testing.T) {
	dir := t.TempDir()
	must.Succeed(t, os.MkdirAll(logDir(dir), dirPerm))
	loss, err := AcceptLoss(dir, Options{})
	equal(t, "loss", []any{loss.Damage == nil, err}, []any{true, nil})
	if len(mustSegments(t, dir)) != 0 {
		t.Error("a log was begun")
	}
}

// The highest epoch has no successor, so AcceptLoss cuts nothing.
func TestAcceptLossAtHighestEpoch(t *testing.T) {
	dir, opt := threeAFile(t)
	must.Succeed(t, WriteEpoch(dir, math.MaxUint32))
	flip(t, dir, 7)
	loss, err := AcceptLoss(dir, opt)
	if err == nil || !strings.Contains(err.Error(), "epoch 4294967295 is the highest number") {
		t.Errorf("%+v, %v", loss, err)
	}
	if epoch, err := ReadEpoch(dir); epoch != math.MaxUint32 || err != nil {
		t.Errorf("the log has epoch %d, %v", epoch, err)
	}
}
