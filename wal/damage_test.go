package wal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// wantRefusal fails unless Open returns an error that names the segment, and changes no
// file.
func wantRefusal(t *testing.T, dir string, opt Options, segment uint64) *DamageError {
	t.Helper()
	before := tree(t, dir)
	l, err := Open(dir, opt)
	if err == nil {
		l.Close()
		t.Fatal("Open took a damaged log")
	}
	var damage *DamageError
	if !errors.As(err, &damage) || !errors.Is(err, ErrDamaged) {
		t.Fatalf("Open: %v", err)
	}
	equal(t, "segment that is named", damage.Segment, segment)
	if !strings.Contains(err.Error(), segmentName(segment)) || !strings.Contains(err.Error(), "accept the loss") {
		t.Errorf("the error does not say where, or what to do: %v", err)
	}
	equal(t, "files", tree(t, dir), before)
	return damage
}

// threeAFile writes 10 entries: segments 1, 4, 7 and 10.
func threeAFile(t *testing.T) (dir string, opt Options) {
	t.Helper()
	dir, opt = t.TempDir(), Options{SegmentSize: 3 * recordSize(12)}
	written(t, dir, 10, opt)
	equal(t, "segments", len(mustSegments(t, dir)), 4)
	return dir, opt
}

// moveToArchive moves the segments with these first entries.
func moveToArchive(t *testing.T, dir string, firsts ...uint64) {
	t.Helper()
	must.Succeed(t, os.MkdirAll(archiveDir(dir), dirPerm))
	for _, first := range firsts {
		must.Succeed(t, moveFile(livePath(dir, first), archivePath(dir, first)))
	}
}

func TestOpenRejectsFlippedBitInMiddleSegment(t *testing.T) {
	dir, opt := threeAFile(t)
	path := livePath(dir, 4)
	whole := mustRead(t, path)
	for at := range whole {
		i := at*8 + at%8
		bad := append([]byte(nil), whole...)
		bad[i/8] ^= 1 << (i % 8)
		mustWrite(t, path, bad)
		l, err := Open(dir, opt)
		if err == nil {
			l.Close()
			t.Fatalf("bit %d of byte %d: read back as good", i%8, i/8)
		}
		if !errors.Is(err, ErrDamaged) {
			t.Fatalf("bit %d of byte %d: %v", i%8, i/8, err)
		}
	}
	mustWrite(t, path, whole)
	mustOpen(t, dir, opt)
}

func TestOpenCutsFlippedBitInLastBatch(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 2, Options{})
	path := lastPath(t, dir)
	whole, at := mustRead(t, path), records(t, path)
	for byt := at[1]; byt < len(whole); byt++ {
		i := byt*8 + byt%8
		bad := append([]byte(nil), whole...)
		bad[i/8] ^= 1 << (i % 8)
		mustWrite(t, path, bad)
		l := mustOpen(t, dir, Options{})
		if seq, _ := l.LastEntry(); seq != 1 {
			t.Fatalf("bit %d of byte %d: the log ends with entry %d", i%8, i/8, seq)
		}
		mustClose(t, l)
	}
}

func TestOpenRejectsDamagedMiddleSegment(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		names  uint64
	}{
		"missing": {func(t *testing.T, dir string) { os.Remove(livePath(dir, 4)) }, 4},
		"short by a record": {func(t *testing.T, dir string) {
			at := records(t, livePath(dir, 4))
			edit(t, livePath(dir, 4), func(b []byte) []byte { return b[:at[2]] })
		}, 6},
		"short by a byte": {func(t *testing.T, dir string) {
			edit(t, livePath(dir, 4), func(b []byte) []byte { return b[:len(b)-1] })
		}, 4},
		"empty": {func(t *testing.T, dir string) {
			edit(t, livePath(dir, 4), func(b []byte) []byte { return nil })
		}, 4},
		"swapped with another": {func(t *testing.T, dir string) {
			four, seven := mustRead(t, livePath(dir, 4)), mustRead(t, livePath(dir, 7))
			mustWrite(t, livePath(dir, 4), seven)
			mustWrite(t, livePath(dir, 7), four)
		}, 4},
		"present twice": {func(t *testing.T, dir string) {
			mustWrite(t, livePath(dir, 5), mustRead(t, livePath(dir, 4)))
		}, 5},
		"zeros after it": {func(t *testing.T, dir string) {
			edit(t, livePath(dir, 4), func(b []byte) []byte { return append(b, 0, 0, 0) })
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			dir, opt := threeAFile(t)
			c.damage(t, dir)
			wantRefusal(t, dir, opt, c.names)
			report, err := Verify(dir, nil)
			if err != nil || report.OK() {
				t.Errorf("Verify saw nothing: %+v, %v", report, err)
			}
			if _, err = drain(NewReader(dir, 0)); name != "present twice" { // a reader goes by file names, and never opens the copy
				wantError(t, err, ErrDamaged)
			}

			loss, err := AcceptLoss(dir, opt)
			if err != nil {
				t.Fatalf("AcceptLoss: %v", err)
			}
			l := mustOpen(t, dir, opt)
			seq, _ := l.LastEntry()
			equal(t, "the last entry and the epoch", []any{seq, l.Epoch()}, []any{loss.Last, 2})
			put(t, l, "next")
			mustClose(t, l)
			equal(t, "entries", all(t, dir, 0), append(numbered(int(loss.Last)), "next"))
		})
	}
}

func TestDamageErrorGivesOffset(t *testing.T) {
	dir, opt := threeAFile(t)
	at := records(t, livePath(dir, 4))
	edit(t, livePath(dir, 4), func(b []byte) []byte { b[at[1]+20] ^= 8; return b })
	d := wantRefusal(t, dir, opt, 4)
	equal(t, "offset, entry and reason", []any{d.Offset, d.Seq, d.Reason, d.Path},
		[]any{at[1], 5, badChecksum, livePath(dir, 4)})
}

func TestLaterVersionIsRejected(t *testing.T) {
	newer := appendFrame(nil, frameHeader{seq: 4, batch: 4, at: 1 << 62, epoch: 1}, []byte("of a later program"))
	newer[3] = 2
	rec := append([]byte{byte(len(newer))}, reseal(newer)...)
	dir := t.TempDir()
	written(t, dir, 3, Options{})
	edit(t, lastPath(t, dir), func(b []byte) []byte { return append(b, rec...) })
	before := tree(t, dir)
	var version *VersionError
	_, err := Open(dir, Options{})
	if !errors.As(err, &version) || version.Version != 2 || version.Path != lastPath(t, dir) {
		t.Errorf("Open: %v", err)
	}
	_, err = AcceptLoss(dir, Options{})
	if !errors.As(err, &version) {
		t.Errorf("AcceptLoss: %v", err)
	}
	_, err = drain(NewReader(dir, 0))
	if !errors.As(err, &version) {
		t.Errorf("Reader: %v", err)
	}
	equal(t, "files", tree(t, dir), before)
}

func TestAcceptLossKeepsCopies(t *testing.T) {
	dir, opt := threeAFile(t)
	takeSnapshot(t, dir, 3, 3)
	takeSnapshot(t, dir, 6, 8)
	segment4, segment7 := mustRead(t, livePath(dir, 4)), mustRead(t, livePath(dir, 7))
	at := records(t, livePath(dir, 4))
	segment4[at[1]+5] ^= 1
	mustWrite(t, livePath(dir, 4), segment4)
	loss := must.Value(AcceptLoss(dir, opt))(t)
	equal(t, "loss", []any{loss.Last, loss.Epoch, loss.Damage.Seq}, []any{4, 2, 5})
	kept := tree(t, loss.Kept)
	equal(t, "the damaged segment", kept[segmentName(4)+".whole"], string(segment4))
	equal(t, "a later segment", kept[segmentName(7)+".kept"], string(segment7))
	if _, ok := kept[segmentName(8)+".snap.kept"]; !ok || len(kept) != 4 {
		t.Errorf("kept files: %d, the snapshot among them: %v", len(kept), ok)
	}
	left, err := ListSnapshotFiles(dir)
	if err != nil || len(left) != 1 || left[0].Newest != 3 {
		t.Errorf("snapshots that are left: %+v, %v", left, err)
	}
}

func TestAcceptLossOfIntactLog(t *testing.T) {
	dir, opt := threeAFile(t)
	before := tree(t, dir)
	for range 2 { // intact, then with a torn end
		loss, err := AcceptLoss(dir, opt)
		equal(t, "loss", []any{loss.Damage == nil, loss.Epoch, err}, []any{true, 0, nil})
		equal(t, "files", tree(t, dir), before)
		edit(t, lastPath(t, dir), func(b []byte) []byte { return append(b, 0) })
		before = tree(t, dir)
	}
	_, err := AcceptLoss(filepath.Join(dir, "none"), opt)
	wantError(t, err, os.ErrNotExist)
}

func TestAcceptLossInArchive(t *testing.T) {
	dir, opt := threeAFile(t)
	moveToArchive(t, dir, 1, 4)
	edit(t, archivePath(dir, 4), func(b []byte) []byte { return b[:len(b)-1] })
	wantRefusal(t, dir, opt, 4)
	must.Value(AcceptLoss(dir, opt))(t)
	l := mustOpen(t, dir, opt)
	put(t, l, "next")
	equal(t, "entries", all(t, dir, 0), append(numbered(5), "next"))
}
