package report

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/report/projection"

	"pingpost/internal/must"
)

// newFilledFile returns a report without a running follower and its file with the given leads.
func newFilledFile(t *testing.T, leads int) (r *Report, f *reportDatabase) {
	t.Helper()
	log := newTestLog()
	for i := range leads {
		log.log(time.Duration(i)*time.Second, &event.LeadDecided{Lead: leadID(i), Campaign: 1, Supplier: 1, Reason: market.ReasonFiltered})
	}
	r = New(testOptions(log, t.TempDir()))
	f = must.Value(r.openNewestDatabaseOrCreateIfNone(t.Context()))(t)
	t.Cleanup(func() { _ = f.close() })
	reader := must.Value(log.NewReader(0))(t)
	more := must.Value(r.readAndWriteBatch(t.Context(), f, reader))(t)
	if more {
		t.Fatal("the entries do not fit into one batch")
	}
	return r, f
}

// countLeadsInCopy counts the leads in a copy of the file without SQLite's log, or returns -1.
func countLeadsInCopy(t *testing.T, f *reportDatabase) (leads int) {
	t.Helper()
	text := must.Value(os.ReadFile(f.path))(t)
	copied := filepath.Join(t.TempDir(), "alone.db")
	must.Succeed(t, os.WriteFile(copied, text, 0o600))
	db := must.Value(sql.Open("sqlite", dsn(copied, "rw")))(t)
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM leads").Scan(&leads); err != nil {
		return -1
	}
	return leads
}

// TestCheckpointMovesAllPages: a checkpoint happens only after enough transactions.
func TestCheckpointMovesAllPages(t *testing.T) {
	_, f := newFilledFile(t, 300)
	if got := countLeadsInCopy(t, f); got == 300 {
		t.Fatal("a checkpoint happened after one small batch")
	}
	f.mustCheckpoint(t)
	if got := countLeadsInCopy(t, f); got != 300 {
		t.Errorf("the file without its log has %d of 300 leads", got)
	}
	for range checkpointTransactions {
		must.Succeed(t, f.writeBatchInTransaction(t.Context(), projection.NewChangeBatch(t.Context(), f, f.sources), f.emptyName))
		must.Succeed(t, f.checkpointIfDue(t.Context()))
	}
	if f.checkpointer.transactions >= checkpointTransactions {
		t.Errorf("%d transactions without a checkpoint", f.checkpointer.transactions)
	}
	must.Succeed(t, runSQLiteQuickCheck(t.Context(), f.path))
}

func (*reportDatabase) emptyName(event.ConfigObjectKind, market.PermanentNumber) string { return "" }

// TestCheckpointKeepsReadersState: a later checkpoint moves the pages that a reader needed.
func TestCheckpointKeepsReadersState(t *testing.T) {
	_, f := newFilledFile(t, 10)
	tx := must.Value(f.readers.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true}))(t)
	count := func() (n int) {
		must.Succeed(t, tx.QueryRowContext(t.Context(), "SELECT count(*) FROM leads").Scan(&n))
		return n
	}
	count()
	must.Succeed(t, f.executeStatement(t.Context(), "DELETE FROM leads"))
	f.mustCheckpoint(t)
	if got := count(); got != 10 {
		t.Errorf("a reader sees %d of the 10 leads of its snapshot", got)
	}
	must.Succeed(t, tx.Rollback())
	f.mustCheckpoint(t)
	if got := countLeadsInCopy(t, f); got != 0 {
		t.Errorf("the file without its log has %d leads, want 0", got)
	}
}

func TestCheckpointFailsWithDeletedWAL(t *testing.T) {
	_, f := newFilledFile(t, 10)
	must.Succeed(t, os.Remove(f.path+"-wal"))
	f.checkpointer.transactions = checkpointTransactions
	if err := f.checkpointIfDue(context.Background()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("checkpoint without SQLite's log: %v, want ErrNotExist", err)
	}
}

// mustCheckpoint moves all pages into the file.
func (f *reportDatabase) mustCheckpoint(t *testing.T) {
	t.Helper()
	if complete, err := f.checkpointAtRate(t.Context(), 0); err != nil || !complete {
		t.Fatal("the checkpoint is incomplete", err)
	}
}

// sqliteWAL returns a log of SQLite with frames of the given pages. The last stale frames are from
// before the log restarted.
func sqliteWAL(size int64, numbers []int64, stale int) []byte {
	text := binary.BigEndian.AppendUint32(make([]byte, logPageSize), uint32(size))
	text = append(text, "seq.saltsaltsum.sum."...)
	for i, n := range numbers {
		frame := binary.BigEndian.AppendUint32(nil, uint32(n))
		salt := "saltsalt"
		if i >= len(numbers)-stale {
			salt = "saltolds"
		}
		frame = append(append(frame, "size"+salt...), "sum.sum."...)
		text = append(text, append(frame, make([]byte, size)...)...)
	}
	return text
}

// TestWALPages: the flushed ranges contain each page of the current frames once, in order.
func TestWALPages(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.SampledFrom([]int64{smallestPage, 4096, biggestPage}).Draw(rt, "size")
		numbers := rapid.SliceOfN(rapid.Int64Range(1, 200), 0, 40).Draw(rt, "numbers")
		stale := rapid.IntRange(0, len(numbers)).Draw(rt, "stale")
		done := rapid.IntRange(0, len(numbers)-stale).Draw(rt, "done")
		path := filepath.Join(dir, "log")
		text := sqliteWAL(size, numbers, stale)
		must.Succeed(t, os.WriteFile(path, text, 0o600))
		log := must.Value(os.Open(path))(t)
		defer log.Close()
		l := must.Value(listUncheckpointedPages(log, sqliteWALHeader(text), int64(done)))(t)
		fresh := numbers[done : len(numbers)-stale]
		if got := (l.endOfFrames - l.firstFrame) / (frameHeader + size); int(got) != len(fresh) || l.firstFrame != 32+int64(done)*(frameHeader+size) {
			rt.Fatalf("%d frames from offset %d, want %d after frame %d", got, l.firstFrame, len(fresh), done)
		}
		covered, before := map[int64]bool{}, int64(-1)
		for off, n := range l.rangesOfChangedPages() {
			if off <= before || off%size != 0 || n%size != 0 || n <= 0 {
				rt.Fatalf("range of %d bytes at %d follows one that ends at %d", n, off, before)
			}
			for at := off; at < off+n; at += size {
				covered[at/size+1] = true
			}
			before = off + n - 1
		}
		for _, n := range fresh {
			if !covered[n] {
				rt.Errorf("page %d is not flushed", n)
			}
		}
		for n := range covered {
			if !slices.ContainsFunc(fresh, func(m int64) bool { return m <= n && (n-m)*size <= maxPageGap+size }) {
				rt.Errorf("page %d is flushed, but no frame has a page near it", n)
			}
		}
		text[20]++ // the log restarted
		if l, err := listUncheckpointedPages(log, sqliteWALHeader(text), int64(done)); err != nil || l.firstFrame != 32 {
			rt.Errorf("first frame of a restarted log at %d, want 32: %v", l.firstFrame, err)
		}
	})
}

func TestEmptyAndInvalidWAL(t *testing.T) {
	log := must.Value(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	defer log.Close()
	if l, err := listUncheckpointedPages(log, sqliteWALHeader{}, 0); err != nil || len(l.pageOffsets) > 0 {
		t.Errorf("an empty log has %d pages: %v", len(l.pageOffsets), err)
	}
	must.Value(log.Write(make([]byte, 100)))(t)
	if _, err := listUncheckpointedPages(log, sqliteWALHeader{}, 0); err == nil {
		t.Error("a log of zeros is accepted")
	}
}

// TestCheckpointContinues: a checkpoint reads only new frames until SQLite's log restarts.
func TestCheckpointContinues(t *testing.T) {
	_, f := newFilledFile(t, 300)
	f.mustCheckpoint(t)
	if f.checkpointer.movedFrames == 0 {
		t.Fatal("the checkpoint moved no frames")
	}
	head, moved := f.checkpointer.lastHeader, f.checkpointer.movedFrames
	for i := range 3 {
		must.Succeed(t, f.executeStatement(t.Context(), "UPDATE leads SET test = ?", i))
		f.mustCheckpoint(t)
	}
	if f.checkpointer.lastHeader == head {
		t.Error("SQLite's log did not restart")
	}
	if f.checkpointer.movedFrames >= moved+300 {
		t.Errorf("%d frames moved after the restart of the log", f.checkpointer.movedFrames)
	}
	must.Succeed(t, runSQLiteQuickCheck(t.Context(), f.path))
	if got := countLeadsInCopy(t, f); got != 300 {
		t.Errorf("the file without its log has %d of 300 leads", got)
	}
}

// TestSQLiteSortsInReportFolder: a machine may have no other writable folder. An error about the
// folder is transient and not a damaged file.
func TestSQLiteSortsInReportFolder(t *testing.T) {
	_, f := newFilledFile(t, 10)
	for _, db := range []*sql.DB{f.pool, f.readers} {
		var dir string
		if db == f.pool {
			must.Succeed(t, f.writer.QueryRowContext(t.Context(), "PRAGMA temp_store_directory").Scan(&dir))
		} else {
			must.Succeed(t, db.QueryRowContext(t.Context(), "PRAGMA temp_store_directory").Scan(&dir))
		}
		if dir != filepath.Dir(f.path) {
			t.Errorf("SQLite sorts in %q", dir)
		}
	}
	if !isTransientSQLiteCode(noTempPath) {
		t.Error("a missing folder for sorting counts as damage")
	}
}
