package wal

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/internal/durable"
	"pingpost/internal/must"
)

// segmentNames returns the first entries of the archived and of the live segments.
func segmentNames(t *testing.T, dir string) (archived, live []uint64) {
	t.Helper()
	for _, s := range mustSegments(t, dir) {
		if s.Archived {
			archived = append(archived, s.First)
		} else {
			live = append(live, s.First)
		}
	}
	return archived, live
}

func TestArchiverMovesAndDeletesSegments(t *testing.T) {
	// Ten entries, three in each segment: 1 4 7 10. Entry n has the time 100n.
	for name, c := range map[string]struct {
		oldest    uint64
		keepAfter int64
		archived  string
		live      string
	}{
		"no bound set":                              {0, 0, "[]", "[1 4 7 10]"},
		"the first is half needed":                  {3, 0, "[]", "[1 4 7 10]"},
		"the first is not needed":                   {4, 0, "[1]", "[4 7 10]"},
		"the last two stay":                         {100, 0, "[1 4]", "[7 10]"},
		"history retained":                          {100, 300, "[1 4]", "[7 10]"},
		"history retained to the last entry":        {100, 400, "[1 4]", "[7 10]"},
		"one segment is older than the history":     {100, 401, "[4]", "[7 10]"},
		"both segments are older than the history":  {100, 5000, "[]", "[7 10]"},
		"older than the history, but needed":        {4, 5000, "[]", "[4 7 10]"},
		"no segment needed, whole history retained": {1, 5000, "[]", "[1 4 7 10]"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, at := t.TempDir(), int64(0)
				l := mustOpen(t, dir, Options{SegmentSize: 3 * recordSize(12), Now: func() int64 { at += 100; return at }})
				put(t, l, numbered(10)...)
				l.RaiseArchiveAndDeletionLimits(c.oldest, c.keepAfter)
				time.Sleep(time.Minute)
				archived, live := segmentNames(t, dir)
				equal(t, "archived", archived, c.archived)
				equal(t, "live", live, c.live)
				st := l.Stats()
				equal(t, "stats", []int{st.Archived, st.Live}, []int{len(archived), len(live)})
				mustClose(t, l)
				mustClose(t, mustOpen(t, dir, Options{From: live[0]}))
			})
		})
	}
}

func TestArchiverIsThrottledOldestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := mustOpen(t, dir, Options{SegmentSize: recordSize(12)})
		for _, e := range numbered(9) {
			time.Sleep(100 * time.Millisecond)
			put(t, l, e)
		}
		start := time.Now()
		l.RaiseArchiveAndDeletionLimits(100, 0)
		for i := range 7 {
			synctest.Wait()
			archived, live := segmentNames(t, dir)
			equal(t, "archived", archived, []uint64{1, 2, 3, 4, 5, 6, 7, 8}[:i+1])
			equal(t, "live", len(live), 9-i)
			time.Sleep(50 * time.Millisecond)
		}
		equal(t, "twice the rate at which they came", time.Since(start), 350*time.Millisecond)
		mustClose(t, l)
	})
}

func TestArchiveBoundsOnlyRise(t *testing.T) {
	l := mustOpen(t, t.TempDir(), Options{})
	l.RaiseArchiveAndDeletionLimits(50, 500)
	l.RaiseArchiveAndDeletionLimits(40, 400)
	l.archiver.mu.Lock()
	defer l.archiver.mu.Unlock()
	equal(t, "bounds", []any{l.archiver.oldest, l.archiver.keepAfter}, []any{50, 500})
}

func TestArchivePauseLimits(t *testing.T) {
	for pace, want := range map[time.Duration]time.Duration{
		time.Microsecond: minArchivePause, 40 * time.Millisecond: 20 * time.Millisecond, time.Hour: maxArchivePause,
	} {
		a := archiver{interval: pace}
		equal(t, "pause", a.pauseBeforeNextStep(), want)
	}
}

func TestArchiverLogsErrorAndRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, j := t.TempDir(), new(journal)
		l := mustOpen(t, dir, Options{SegmentSize: recordSize(12), Logger: j.logger()})
		put(t, l, numbered(5)...)
		mustWrite(t, archiveDir(dir), []byte("a file where a folder is due"))
		l.RaiseArchiveAndDeletionLimits(100, 0)
		synctest.Wait()
		if !j.contains("cannot archive or delete an old log segment") {
			t.Error("the failure was not logged")
		}
		os.Remove(archiveDir(dir))
		put(t, l, "another lead")
		time.Sleep(time.Minute)
		archived, _ := segmentNames(t, dir)
		equal(t, "archived", archived, "[1 2 3 4 5]")
		mustClose(t, l)
		equal(t, "entries", all(t, dir, 0), append(numbered(5), "another lead"))
	})
}

// If a move's fsync fails, the file is in the archive already. The next attempt completes the move.
func TestArchiverCompletesInterruptedMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := mustOpen(t, dir, Options{SegmentSize: recordSize(12)})
		put(t, l, numbered(5)...)
		must.Succeed(t, durable.MakeFolder(archiveDir(dir)))
		must.Succeed(t, os.Rename(livePath(dir, 1), archivePath(dir, 1)))
		l.RaiseArchiveAndDeletionLimits(100, 0)
		time.Sleep(time.Minute)
		archived, _ := segmentNames(t, dir)
		equal(t, "archived", archived, "[1 2 3 4]")
		st := l.Stats()
		equal(t, "stats", []int{st.Archived, st.Live}, "[4 2]")
		mustClose(t, l)
	})
}

func TestRestartFindsArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := mustOpen(t, dir, Options{SegmentSize: recordSize(12), Now: func() int64 { return 5 }})
		put(t, l, numbered(6)...)
		l.RaiseArchiveAndDeletionLimits(4, 0)
		time.Sleep(time.Minute)
		mustClose(t, l)
		// A fallback to the previous snapshot reads from the archive.
		l = mustOpen(t, dir, Options{From: 2, AtLeast: 6})
		l.RaiseArchiveAndDeletionLimits(4, 6)
		time.Sleep(time.Minute)
		archived, live := segmentNames(t, dir)
		equal(t, "left", []any{archived, live}, "[[] [4 5 6 7]]")
		mustClose(t, l)
	})
}
