package wal

import (
	"errors"
	"os"
	"testing"

	"pingpost/internal/must"
)

func TestVerifyCounts(t *testing.T) {
	dir := t.TempDir()
	at := int64(0)
	l := mustOpen(t, dir, Options{SegmentSize: 3 * recordSize(12), Now: func() int64 { at += 100; return at }})
	put(t, l, numbered(10)...)
	must.Succeed(t, l.archiver.moveToArchive(1))
	takeSnapshot(t, dir, 4, 6)
	takeSnapshot(t, dir, 8, 9)
	r, err := Verify(dir, nil) // while the log is in use
	if err != nil || !r.OK() || r.Torn != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	equal(t, "report",
		[]any{r.Segments, r.Entries, r.Bytes, r.First, r.Last, r.FirstAt, r.LastAt, r.Epoch, len(r.Snapshots), r.Snapshots[0].Newest},
		[]any{4, 10, 10 * recordSize(12), 1, 10, 100, 1000, 1, 2, 9})
}

func TestVerifyFindsAllDamageReadOnly(t *testing.T) {
	dir, _ := threeAFile(t)
	takeSnapshot(t, dir, 1, 2)
	edit(t, takeSnapshot(t, dir, 2, 3).Path, func(b []byte) []byte { b[20] ^= 1; return b })
	edit(t, livePath(dir, 1), func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
	os.Remove(livePath(dir, 7))
	edit(t, livePath(dir, 10), func(b []byte) []byte { return append(b, 0) })
	before := tree(t, dir)
	r, err := Verify(dir, nil)
	if err != nil || r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
	equal(t, "damage", []any{len(r.Damage), r.Damage[0].Segment, r.Damage[0].Seq, r.Damage[1].Segment}, []any{2, 1, 3, 7})
	equal(t, "torn end", []any{r.Torn.Segment, r.Torn.Offset}, []any{10, recordSize(12)})
	equal(t, "entries", r.Entries, 2+3+1)
	equal(t, "snapshots", []any{len(r.Snapshots), len(r.BadSnapshots)}, []any{1, 1})
	equal(t, "files", tree(t, dir), before)
	if _, err := Verify(t.TempDir(), nil); err == nil {
		t.Error("a folder without a log was verified")
	}
}

func TestVerifyTornEndIsNoLoss(t *testing.T) {
	dir, _ := threeAFile(t)
	edit(t, livePath(dir, 10), func(b []byte) []byte { return b[:5] })
	r, err := Verify(dir, nil)
	if err != nil || !r.OK() || r.Torn == nil || !r.Torn.Torn {
		t.Fatalf("%+v, %v", r, err)
	}
}

// Segments are deleted during the check, the oldest first. That is not a loss: Verify
// checks the remaining segments instead. A segment missing between others is a loss.
func TestVerifyRestartsWhenHistoryIsDeleted(t *testing.T) {
	for name, c := range map[string]struct {
		gone   []uint64
		passed bool
	}{
		"the two oldest": {[]uint64{1, 4}, true},
		"one of between": {[]uint64{4}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := threeAFile(t)
			segments := must.Value(Segments(dir))(t)
			var r VerifyReport
			opened := new(cursor)
			defer opened.close()
			must.Succeed(t, r.verifySegment(opened, dir, segments[0], false))
			for _, first := range c.gone {
				os.Remove(livePath(dir, first))
			}
			err := r.verifySegment(opened, dir, segments[1], false)
			if errors.Is(err, errHistoryMoved) != c.passed || errors.Is(err, os.ErrNotExist) == c.passed {
				t.Errorf("the second segment: %v", err)
			}
			r, err = Verify(dir, nil)
			if err != nil || r.OK() != c.passed {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}
