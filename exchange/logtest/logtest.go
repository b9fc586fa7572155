// Package logtest gives tests a log whose events they write themselves, at times that
// they choose: for situations that an exchange reaches only after hours, or never.
package logtest

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/wal"
)

// Start is the time of a new log in Unix nanoseconds.
const Start = 1_795_183_200_000 * int64(time.Millisecond)

// Log is a log and the state that its events make. Its first entry names buyers 1 to 9
// ("buy_1"), the suppliers "sup" and "sup_other", and the campaign "cmp".
type Log struct {
	*wal.Log
	State *state.State
	Dir   string
	Now   int64  // Unix nanoseconds
	Seq   uint64 // the last entry

	t    testing.TB
	done chan error
}

// New opens a log in a temporary folder. Its segments hold a few entries each.
func New(t testing.TB) *Log {
	t.Helper()
	l := &Log{State: state.New(), Dir: t.TempDir(), Now: Start, t: t, done: make(chan error, 1)}
	log, err := wal.Open(l.Dir, wal.Options{SegmentSize: 2048, Now: func() int64 { return l.Now }, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	l.Log = log
	given := &event.NamesNumbered{Names: []event.NumberedName{
		{Kind: event.ObjectSupplier, Ref: 1, ID: "sup"},
		{Kind: event.ObjectSupplier, Ref: 2, ID: "sup_other"},
		{Kind: event.ObjectCampaign, Ref: 1, ID: "cmp"},
	}}
	for n := range market.Ref(9) {
		given.Names = append(given.Names, event.NumberedName{Kind: event.ObjectBuyer, Ref: n + 1, ID: fmt.Sprint("buy_", n+1)})
	}
	l.Add(given)
	return l
}

// Add writes an event and applies it. It returns the entry's sequence number.
func (l *Log) Add(ev event.Event) (seq uint64) {
	l.t.Helper()
	if err := l.Append(event.Append(nil, ev), eventApplier{l, ev}); err != nil {
		l.t.Fatal(err)
	}
	if err := <-l.done; err != nil {
		l.t.Fatal(err)
	}
	return l.Seq
}

// eventApplier applies an event once the log has committed it.
type eventApplier struct {
	*Log
	event event.Event
}

// Committed applies the event.
func (a eventApplier) Committed(seq uint64, at int64) {
	a.Seq = seq
	a.State.Apply(seq, at, a.event)
	a.done <- nil
}

// Failed passes the log's error to Add.
func (a eventApplier) Failed(err error) { a.done <- err }

// Advance moves the clock.
func (l *Log) Advance(d time.Duration) { l.Now += int64(d) }

// LeadID returns the nth lead's identifier at the current time.
func (l *Log) LeadID(n byte) market.LeadID {
	return market.LeadID(market.ComposeID(l.Now/int64(time.Millisecond), [10]byte{9: n}))
}

// SaleTo is a sale to the nth buyer.
func SaleTo(n int) event.Sale {
	return event.Sale{Buyer: market.Ref(n), FilterSet: uint32(n - 1), Price: 12_500_000, Payout: 10_000_000, Currency: market.Currency{'U', 'S', 'D'}}
}

// AddPostedLead writes the decision to post a lead to the first buyer.
func (l *Log) AddPostedLead(id market.LeadID) {
	l.t.Helper()
	l.Add(&event.LeadDecided{
		Lead: id, Campaign: 1, Supplier: 1, Catalog: 1, Decided: l.Now, Keep: l.Now + int64(45*24*time.Hour),
		Sale: SaleTo(1), Post: event.PostIntent{URL: "https://buyer.example", Timeout: 1e9, Repeatable: true},
		Trail: []event.OutcomeFilterSets{{Outcome: market.OutcomePostPending, FilterSets: bitset.Set{1}}, {Outcome: market.OutcomeCapped, FilterSets: bitset.Set{2}}},
	})
}

// AddPostResult writes the result of a lead's post.
func (l *Log) AddPostResult(id market.LeadID, result event.PostSettlement, change ...func(*event.PostSettled)) {
	l.t.Helper()
	settled := &event.PostSettled{Lead: id, Campaign: 1, Settlement: result, Sale: SaleTo(1)}
	for _, do := range change {
		do(settled)
	}
	l.Add(settled)
}

// AddOtherLeads writes n leads that no test asks for.
func (l *Log) AddOtherLeads(n int) {
	l.t.Helper()
	for i := range n {
		l.Add(&event.LeadDecided{Lead: l.LeadID(byte(200 + i%50)), Campaign: 1, Supplier: 1, Catalog: 1, Reason: market.ReasonNoBuyer, Keep: 1})
	}
}

// ArchiveAll moves every segment that it can into the archive, and waits for it.
func (l *Log) ArchiveAll() {
	l.t.Helper()
	l.RaiseArchiveBounds(l.Seq, 0)
	Eventually(l.t, "segments are in the archive", func() bool {
		files, _ := os.ReadDir(filepath.Join(l.Dir, "archive"))
		return len(files) > 2
	})
}

// Eventually waits up to 20 seconds for a condition.
func Eventually(t testing.TB, condition string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("condition did not become true: %s", condition)
		}
	}
}
