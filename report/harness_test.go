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
	mu      sync.Mutex
	life    LogIdentity
	entries []wal.Entry
	first   uint64 // the oldest that history holds
	fails   error  // of the next reading
	panics  bool   // the next reading does
}

func newLog() *testLog {
	return &testLog{life: LogIdentity{[16]byte{1, 2, 3}, 1}, first: 1}
}

var start = time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC)

// log adds a fact, so long after start.
func (l *testLog) log(after time.Duration, fact event.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, wal.Entry{Seq: uint64(len(l.entries) + 1), At: start.Add(after).UnixNano(), Data: event.AppendRecord(nil, fact)})
}

func (l *testLog) change(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
}

func (l *testLog) LogIdentity() LogIdentity {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.life
}

func (l *testLog) Durable() (uint64, int64) {
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
		panic("a page is not what it seems")
	}
	if err := r.log.fails; err != nil {
		r.log.fails = nil
		return wal.Entry{}, err
	}
	if r.next > uint64(len(r.log.entries)) {
		return wal.Entry{}, io.EOF
	}
	e := r.log.entries[r.next-1]
	r.next++
	return e, nil
}

func (*testReader) Close() {}

// running is a report that follows a log.
type testReport struct {
	*Report
	t    testing.TB
	log  *testLog
	stop func()
}

func options(log *testLog, dir string) Options {
	return Options{
		Dir: dir, Source: log, pollInterval: time.Millisecond, retryDelay: time.Millisecond, checkInterval: 20 * time.Millisecond, sweepInterval: time.Nanosecond,
		Now: func() time.Time { return start.Add(24 * time.Hour) }, Logger: slog.New(slog.DiscardHandler),
	}
}

func run(t testing.TB, log *testLog, opt Options) *testReport {
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

const patience = time.Minute

// until waits for a condition.
func (r *testReport) waitUntil(what string, holds func() bool) {
	r.t.Helper()
	for begun := time.Now(); !holds(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > patience {
			r.t.Fatalf("waited in vain until %s; it stands at %+v", what, r.ProgressStatus())
		}
	}
}

// caughtUp waits until the report has all.
func (r *testReport) waitCaughtUp() {
	r.t.Helper()
	r.waitUntil("it has all", func() bool {
		durable, _ := r.log.Durable()
		return r.ProgressStatus().Seq == durable
	})
}

// rebuilt waits for a rebuild after so many, and until it has all.
func (r *testReport) waitRebuilt(before uint64) {
	r.t.Helper()
	r.waitUntil("it is built anew", func() bool { return r.ProgressStatus().Rebuilds > before })
	r.waitCaughtUp()
}

// whole is a question of all there is.
func wholeTime(by ...Dimension) Question {
	return Question{By: by, From: start.Add(-240 * time.Hour).UnixNano(), To: start.Add(240 * time.Hour).UnixNano()}
}

// ask is the answer to a question, which is asked again while the report is being built.
func (r *testReport) ask(q Question) (rows []Row) {
	r.t.Helper()
	var a *AnswerRows
	r.waitUntil("it answers", func() (ok bool) {
		var err error
		if a, err = r.Ask(context.Background(), q); errors.As(err, new(*LogNotReachedError)) {
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

// said is a report in short: of each row what it is of and what is not zero.
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
