package report

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// filled is a file that was written to by hand, with so many leads.
func filled(t *testing.T, leads int) (r *Report, f *file) {
	t.Helper()
	log := newLog()
	for i := range leads {
		log.log(time.Duration(i)*time.Second, &event.LeadDecided{Lead: leadID(i), Campaign: 1, Supplier: 1, Reason: market.ReasonFiltered})
	}
	r = New(options(log, t.TempDir()))
	f, err := r.open(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = f.close() })
	reader, err := log.NewReader(0)
	must(t, err)
	more, err := r.step(t.Context(), f, reader)
	must(t, err)
	if more {
		t.Fatal("it takes more than a batch")
	}
	return r, f
}

// alone is what a file says without what SQLite keeps beside it.
func alone(t *testing.T, f *file) (leads int) {
	t.Helper()
	text, err := os.ReadFile(f.path)
	must(t, err)
	copied := filepath.Join(t.TempDir(), "alone.db")
	must(t, os.WriteFile(copied, text, 0o600))
	db, err := sql.Open("sqlite", address(copied, "rw"))
	must(t, err)
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM leads").Scan(&leads); err != nil {
		return -1
	}
	return leads
}

// TestSettleMovesAllIntoTheFile, and not before there is enough of it.
func TestSettleMovesAllIntoTheFile(t *testing.T) {
	_, f := filled(t, 300)
	if got := alone(t, f); got == 300 {
		t.Fatal("one small batch was settled at once")
	}
	must(t, f.settleAt(t.Context(), 0))
	if got := alone(t, f); got != 300 {
		t.Errorf("the file alone has %d of 300 leads", got)
	}
	for range settleTransactions {
		must(t, f.write(t.Context(), newBatch(t.Context(), f, f.sources), f.nameless))
		must(t, f.settle(t.Context()))
	}
	if f.settler.transactions >= settleTransactions {
		t.Errorf("%d transactions wait", f.settler.transactions)
	}
	must(t, examine(t.Context(), f.path))
}

func (*file) nameless(event.NameKind, market.Ref) string { return "" }

// TestSettleLeavesReadersWhatTheyRead: who reads an older state goes on with it, and what
// could not be moved because of that is moved later.
func TestSettleLeavesReadersWhatTheyRead(t *testing.T) {
	_, f := filled(t, 10)
	tx, err := f.readers.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	must(t, err)
	count := func() (n int) {
		must(t, tx.QueryRowContext(t.Context(), "SELECT count(*) FROM leads").Scan(&n))
		return n
	}
	count()
	must(t, f.exec(t.Context(), "DELETE FROM leads"))
	must(t, f.settleAt(t.Context(), 0))
	if got := count(); got != 10 {
		t.Errorf("a reader has %d of the 10 leads that it began with", got)
	}
	must(t, tx.Rollback())
	must(t, f.settleAt(t.Context(), 0))
	if got := alone(t, f); got != 0 {
		t.Errorf("the file alone has %d leads after all were removed", got)
	}
}

// TestSettleGivesUpOnAFileThatIsGone: the error is told, and the follower opens another.
func TestSettleGivesUpOnAFileThatIsGone(t *testing.T) {
	_, f := filled(t, 10)
	must(t, os.Remove(f.path+"-wal"))
	f.settler.transactions = settleTransactions
	if err := f.settle(context.Background()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("settled into what is not there: %v", err)
	}
}

// TestPagesInALog: what is flushed has every page that the frames name, no byte twice, in
// order.
func TestPagesInALog(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.SampledFrom([]int64{smallestPage, 4096, biggestPage}).Draw(rt, "size")
		numbers := rapid.SliceOfN(rapid.Int64Range(1, 200), 0, 40).Draw(rt, "numbers")
		var head [logHeader]byte
		binary.BigEndian.PutUint32(head[logPageSize:], uint32(size))
		text := slices.Clone(head[:])
		for _, n := range numbers {
			frame := make([]byte, frameHeader+size)
			binary.BigEndian.PutUint32(frame, uint32(n))
			text = append(text, frame...)
		}
		log, err := os.Create(filepath.Join(dir, "log"))
		must(t, err)
		defer log.Close()
		_, err = log.Write(text)
		must(t, err)
		pages, err := pagesIn(log, int64(len(numbers)))
		must(t, err)
		covered, before := map[int64]bool{}, int64(-1)
		for off, n := range pages {
			if off <= before || off%size != 0 || n%size != 0 || n <= 0 {
				rt.Fatalf("a range of %d bytes from %d on, after one that ends at %d", n, off, before)
			}
			for at := off; at < off+n; at += size {
				covered[at/size+1] = true
			}
			before = off + n - 1
		}
		for _, n := range numbers {
			if !covered[n] {
				rt.Errorf("page %d is not flushed", n)
			}
		}
		for n := range covered {
			near := slices.ContainsFunc(numbers, func(m int64) bool { return m <= n && (n-m)*size <= withinOneRead+size })
			if !near {
				rt.Errorf("page %d is flushed, and none near it is named", n)
			}
		}
		if _, err := pagesIn(log, int64(len(numbers))+1); !errors.Is(err, io.EOF) {
			rt.Errorf("a frame that is not there: %v", err)
		}
	})
}
