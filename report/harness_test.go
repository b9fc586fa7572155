package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/report/projection"
	"pingpost/wal"
)

// testLog is a log in memory.
type testLog struct {
	mu       sync.Mutex
	identity LogIdentity
	entries  []wal.Entry
	first    uint64 // sequence number of the oldest entry
	nextErr  error  // returned by the next read
	panics   bool   // the next read panics
	stalled  bool   // reads see no entries
	arriving bool   // an entry arrives after each read of the end
}

func newTestLog() *testLog {
	return &testLog{identity: LogIdentity{[16]byte{1, 2, 3}, 1}, first: 1}
}

var start = time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC)

// log appends an event at a time after start.
func (l *testLog) log(after time.Duration, e event.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, wal.Entry{Seq: uint64(len(l.entries) + 1), At: start.Add(after).UnixNano(), Data: event.AppendRecord(nil, e)})
}

// change edits the log under its lock.
func (l *testLog) change(edit func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	edit()
}

func (l *testLog) LogIdentity() LogIdentity {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.identity
}

func (l *testLog) LastEntry() (uint64, int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.entries); n > 0 {
		return uint64(n), l.entries[n-1].At
	}
	return 0, 0
}

var testNames = map[event.ConfigObjectKind][]string{
	event.ObjectSupplier: {"", "sup_a", "sup_b", "=sup_c"},
	event.ObjectBuyer:    {"", "buy_a", "buy_b", "buy_c", "buy_d"},
	event.ObjectCampaign: {"", "cmp_a", "cmp_b"},
}

func (l *testLog) NameOf(kind event.ConfigObjectKind, ref market.PermanentNumber) string {
	if names := testNames[kind]; int(ref) < len(names) {
		return names[ref]
	}
	return fmt.Sprint(kind, ref)
}

func (l *testLog) RefOf(kind event.ConfigObjectKind, id string) market.PermanentNumber {
	for ref, name := range testNames[kind] {
		if name == id {
			return market.PermanentNumber(ref)
		}
	}
	return 0
}

func (l *testLog) NewReader(from uint64) (LogReader, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if from == 0 {
		from = l.first
	}
	if from < l.first {
		return nil, fmt.Errorf("entry %d: %w", from, wal.ErrGone)
	}
	return &testReader{l, from}, nil
}

type testReader struct {
	log  *testLog
	next uint64
}

func (r *testReader) Next() (wal.Entry, error) {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	if r.log.panics {
		r.log.panics = false
		panic("panic of the test's log")
	}
	if err := r.log.nextErr; err != nil {
		r.log.nextErr = nil
		return wal.Entry{}, err
	}
	if r.log.stalled || r.next > uint64(len(r.log.entries)) {
		if n := len(r.log.entries); r.log.arriving {
			r.log.entries = append(r.log.entries, wal.Entry{Seq: uint64(n + 1), At: start.UnixNano(), Data: event.AppendRecord(nil, soldLead(n+1))})
		}
		return wal.Entry{}, io.EOF
	}
	e := r.log.entries[r.next-1]
	r.next++
	return e, nil
}

func (*testReader) Close() {}

// testReport is a running report that follows a testLog.
type testReport struct {
	*Report
	t    testing.TB
	log  *testLog
	stop func()
}

func testOptions(log *testLog, dir string) Options {
	return Options{
		Dir: dir, Source: log, pollInterval: time.Millisecond, retryDelay: time.Millisecond, checkInterval: 20 * time.Millisecond, sweepInterval: time.Nanosecond,
		Now: func() time.Time { return start.Add(24 * time.Hour) }, Logger: slog.New(slog.DiscardHandler),
	}
}

func startReport(t testing.TB, log *testLog, opt Options) *testReport {
	t.Helper()
	r := &testReport{Report: New(opt), t: t, log: log}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx)
	}()
	var once sync.Once
	r.stop = func() { once.Do(func() { cancel(); <-ended }) }
	t.Cleanup(r.stop)
	return r
}

const waitLimit = time.Minute

// waitUntil waits for a condition, at most waitLimit.
func (r *testReport) waitUntil(what string, condition func() bool) {
	r.t.Helper()
	for began := time.Now(); !condition(); time.Sleep(time.Millisecond) {
		if time.Since(began) > waitLimit {
			r.t.Fatalf("timed out before %s; status %+v", what, r.ProgressStatus())
		}
	}
}

func (r *testReport) waitCaughtUp() {
	r.t.Helper()
	r.waitUntil("the report has all entries", func() bool {
		last, _ := r.log.LastEntry()
		return r.ProgressStatus().Seq == last
	})
}

// waitRebuilt waits until more rebuilds than before are done and the report has all entries.
func (r *testReport) waitRebuilt(before uint64) {
	r.t.Helper()
	r.waitUntil("the report is rebuilt", func() bool { return r.ProgressStatus().Rebuilds > before })
	r.waitCaughtUp()
}

// wholeTime returns a question about all entries.
func wholeTime(by ...Dimension) Question {
	return Question{By: by, From: start.Add(-240 * time.Hour).UnixNano(), To: start.Add(240 * time.Hour).UnixNano()}
}

// rowsOf asks a question and returns the rows. It retries during a rebuild.
func (r *testReport) rowsOf(q Question) (rows []Row) {
	r.t.Helper()
	var a *RowIterator
	r.waitUntil("the report answers", func() (ok bool) {
		var err error
		if a, err = r.Ask(context.Background(), q); errors.As(err, new(*NotFollowedYetError)) {
			return false
		} else if err != nil {
			r.t.Fatal(err)
		}
		return true
	})
	defer a.Close()
	for {
		row, err := a.Next()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			r.t.Fatal(err)
		}
		rows = append(rows, *row)
	}
}

// rowLines formats rows: the time, the names and the measures that are not zero.
func rowLines(q Question, rows []Row) (lines []string) {
	for i := range rows {
		line := ""
		if q.groupsByTime() {
			line = rows[i].Start.Format("01-02T15:04Z07:00 ")
		}
		for _, d := range q.By {
			if !d.isTime() {
				line += rows[i].Names[d] + " "
			}
		}
		line += rows[i].Currency + ":"
		for m, n := range rows[i].Measures {
			if n != 0 {
				line += fmt.Sprintf(" %s %d", projection.MeasureNames[m], n)
			}
		}
		lines = append(lines, line)
	}
	return lines
}
