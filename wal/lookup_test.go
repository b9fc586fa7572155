package wal

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/internal/must"
)

// entryAt reads one entry that must exist.
func entryAt(t testing.TB, l *Log, seq uint64) string {
	t.Helper()
	e, err := l.EntryAt(seq)
	if err != nil || e.Seq != seq || e.Epoch != l.Epoch() {
		t.Fatalf("entry %d: %+v, %v", seq, e, err)
	}
	return string(e.Data)
}

// The data of an entry does not change with later reads.
func TestEntryAtCopiesData(t *testing.T) {
	l := mustOpen(t, t.TempDir(), Options{})
	put(t, l, numbered(3)...)
	first := must.Value(l.EntryAt(1))(t)
	for range 10 {
		entryAt(t, l, 3)
	}
	equal(t, "the first", string(first.Data), "entry-000001")
	if cap(first.Data) > 64 {
		t.Errorf("an entry of %d bytes holds on to %d", len(first.Data), cap(first.Data))
	}
}

func TestEntryAtWorksAfterClose(t *testing.T) {
	l := mustOpen(t, t.TempDir(), Options{})
	put(t, l, numbered(3)...)
	mustClose(t, l)
	equal(t, "after Close", entryAt(t, l, 2), "entry-000002")
}

func TestEntryAtRejectsMissingEntry(t *testing.T) {
	l := mustOpen(t, t.TempDir(), Options{})
	for _, seq := range []uint64{0, 1, 1 << 63} {
		_, err := l.EntryAt(seq)
		wantError(t, err, ErrNoEntry)
	}
	put(t, l, numbered(3)...)
	for _, seq := range []uint64{0, 4, 1<<64 - 1} {
		_, err := l.EntryAt(seq)
		wantError(t, err, ErrNoEntry)
	}
}

func TestEntryAtReadsArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, at := t.TempDir(), int64(0)
		l := mustOpen(t, dir, Options{SegmentSize: 3 * recordSize(12), Now: func() int64 { at += 100; return at }})
		put(t, l, numbered(10)...)
		l.RaiseArchiveAndDeletionLimits(100, 0)
		time.Sleep(time.Minute)
		archived, _ := segmentNames(t, dir)
		equal(t, "archived", archived, "[1 4]")
		for seq := uint64(1); seq <= 10; seq++ {
			equal(t, "of the archive", entryAt(t, l, seq), numbered(10)[seq-1])
		}
		l.RaiseArchiveAndDeletionLimits(100, 401)
		time.Sleep(time.Minute)
		for seq := uint64(1); seq <= 10; seq++ {
			if seq <= 3 {
				_, err := l.EntryAt(seq)
				wantError(t, err, ErrGone)
				continue
			}
			equal(t, "of what is kept", entryAt(t, l, seq), numbered(10)[seq-1])
		}
		mustClose(t, l)
	})
}

// The segment is deleted between the lookup in the archiver and the opening of the file.
func TestEntryAtOfJustDeletedSegment(t *testing.T) {
	dir, opt := threeAFile(t)
	l := mustOpen(t, dir, opt)
	os.Remove(livePath(dir, 1))
	_, err := l.EntryAt(2)
	wantError(t, err, ErrGone)
	os.Remove(livePath(dir, 7)) // earlier segments exist, so this one is missing
	_, err = l.EntryAt(8)
	wantError(t, err, ErrDamaged)
	equal(t, "beside them", entryAt(t, l, 5), "entry-000005")
}

// EntryAt returns damage before the entry or in it; entries before the damage are
// readable.
func TestEntryAtReturnsDamage(t *testing.T) {
	dir, opt := threeAFile(t)
	l := mustOpen(t, dir, opt)
	edit(t, livePath(dir, 4), func(b []byte) []byte { b[recordSize(12)+recordSize(12)/2+20] ^= 1; return b })
	equal(t, "before it", entryAt(t, l, 4), "entry-000004")
	for _, seq := range []uint64{5, 6} {
		_, err := l.EntryAt(seq)
		wantError(t, err, ErrDamaged)
	}
	equal(t, "in the next segment", entryAt(t, l, 7), "entry-000007")
}

// EntryAt runs beside a writer whose segments begin, move and are deleted.
func TestEntryAtDuringAppends(t *testing.T) {
	dir := t.TempDir()
	var clock atomic.Int64
	l := mustOpen(t, dir, Options{SegmentSize: 4 * recordSize(12), Now: func() int64 { return clock.Add(100) }})
	const many = 120
	var done atomic.Bool
	var read, gone atomic.Int64
	var all sync.WaitGroup
	for g := range uint64(2) {
		all.Go(func() {
			for n := g; !done.Load() || read.Load() == 0; n += 7 {
				last, _ := l.LastEntry()
				if last == 0 {
					continue
				}
				seq := last - n%min(last, 60)
				e, err := l.EntryAt(seq)
				if errors.Is(err, ErrGone) {
					gone.Add(1)
					continue
				}
				if err != nil {
					t.Errorf("entry %d of %d: %v", seq, last, err)
					return
				}
				if want := fmt.Sprintf("entry-%06d", seq); string(e.Data) != want || e.Seq != seq {
					t.Errorf("entry %d is %d %q", seq, e.Seq, e.Data)
					return
				}
				read.Add(1)
				runtime.Gosched()
			}
		})
	}
	for i, entry := range numbered(many) {
		put(t, l, entry)
		if i%10 == 0 {
			l.RaiseArchiveAndDeletionLimits(uint64(i), int64(max(0, i-40)*100))
		}
	}
	done.Store(true)
	all.Wait()
	if read.Load() == 0 {
		t.Error("nothing was read")
	}
	if _, err := l.EntryAt(1); err == nil && gone.Load() > 0 {
		t.Error("an entry is gone and back again")
	}
}
