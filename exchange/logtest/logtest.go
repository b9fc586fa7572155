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
	"pingpost/internal/must"
	"pingpost/wal"
)

// Start is the time of a new log in Unix nanoseconds.
const Start = 1_795_183_200_000 * int64(time.Millisecond)

// Log is a log for tests, together with the state that results from its events. New names
// buyers "buy_1" to "buy_9", the suppliers "sup" and "sup_other", and the campaign "cmp".
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
	log := must.Value(wal.Open(l.Dir, wal.Options{SegmentSize: 2048, Now: func() int64 { return l.Now }, Logger: slog.New(slog.DiscardHandler)}))(t)
	t.Cleanup(func() { _ = log.Close() })
	l.Log = log
	given := &event.ConfigObjectNumbersAssigned{Names: []event.NameNumberAssignment{
		{Kind: event.ObjectSupplier, Ref: 1, ID: "sup"},
		{Kind: event.ObjectSupplier, Ref: 2, ID: "sup_other"},
		{Kind: event.ObjectCampaign, Ref: 1, ID: "cmp"},
	}}
	for n := range market.PermanentNumber(9) {
		given.Names = append(given.Names, event.NameNumberAssignment{Kind: event.ObjectBuyer, Ref: n + 1, ID: fmt.Sprint("buy_", n+1)})
	}
	l.Add(given)
	return l
}

// Add writes an event to the log and waits until the state has applied it. It returns the
// entry's sequence number.
func (l *Log) Add(ev event.Event) (seq uint64) {
	l.t.Helper()
	must.Succeed(l.t, l.Append(event.AppendRecord(nil, ev), eventApplier{l, ev}))
	must.Succeed(l.t, <-l.done)
	return l.Seq
}

// eventApplier is the callback of the log for one event. It applies the event to the state once
// the log has committed it.
type eventApplier struct {
	*Log
	event event.Event
}

// Committed applies the event to the state and lets Add return. The log calls it.
func (a eventApplier) Committed(seq uint64, at int64) {
	a.Seq = seq
	a.State.Apply(seq, at, a.event)
	a.done <- nil
}

// Failed makes Add fail the test with the log's error. The log calls it.
func (a eventApplier) Failed(err error) { a.done <- err }

// AdvanceClock sets the clock of the log forward by d.
func (l *Log) AdvanceClock(d time.Duration) { l.Now += int64(d) }

// NewLeadID returns a lead's id with the log's current time and the given number.
func (l *Log) NewLeadID(number byte) market.LeadID {
	return market.LeadID(market.ComposeID(l.Now/int64(time.Millisecond), [10]byte{9: number}))
}

// SaleTo returns a sale of a lead to the buyer with the number buyerNumber, for 12.50 USD with a payout
// of 10 USD.
func SaleTo(buyerNumber int) event.Sale {
	return event.Sale{Buyer: market.PermanentNumber(buyerNumber), FilterSet: uint32(buyerNumber - 1), Price: 12_500_000, Payout: 10_000_000, Currency: market.Currency{'U', 'S', 'D'}}
}

// AddLeadPostedToBuyer1 writes the event that decides to post the lead to buyer 1.
func (l *Log) AddLeadPostedToBuyer1(id market.LeadID) {
	l.t.Helper()
	l.Add(&event.LeadDecided{
		Lead: id, Campaign: 1, Supplier: 1, Catalog: 1, Decided: l.Now, Keep: l.Now + int64(45*24*time.Hour),
		Sale: SaleTo(1), Post: event.PostIntent{URL: "https://buyer.example", Timeout: 1e9, Repeatable: true},
		Trail: []event.FilterSetsWithOutcome{{Outcome: market.OutcomePostPending, FilterSets: bitset.Set{1}}, {Outcome: market.OutcomeCapped, FilterSets: bitset.Set{2}}},
	})
}

// AddPostResult writes the event that settles the lead's post with result. The functions in
// modify may alter the event first.
func (l *Log) AddPostResult(id market.LeadID, result event.PostSettlement, modify ...func(*event.PostSettled)) {
	l.t.Helper()
	settled := &event.PostSettled{Lead: id, Campaign: 1, Settlement: result, Sale: SaleTo(1)}
	for _, do := range modify {
		do(settled)
	}
	l.Add(settled)
}

// AddUnsoldLeads writes count unsold leads between the leads under test, so that a search has
// entries to skip.
func (l *Log) AddUnsoldLeads(count int) {
	l.t.Helper()
	for i := range count {
		l.Add(&event.LeadDecided{Lead: l.NewLeadID(byte(200 + i%50)), Campaign: 1, Supplier: 1, Catalog: 1, Reason: market.ReasonNoBuyer, Keep: 1})
	}
}

// ArchiveSegmentsAndWait lets the log move its old segments into the archive, and waits until at least
// three are there. The two newest segments stay.
func (l *Log) ArchiveSegmentsAndWait() {
	l.t.Helper()
	l.RaiseArchiveAndDeletionLimits(l.Seq, 0)
	WaitUntil(l.t, "segments are in the archive", func() bool {
		files, _ := os.ReadDir(filepath.Join(l.Dir, "archive"))
		return len(files) > 2
	})
}

// WaitUntil waits until holds returns true. After 20 seconds it fails the test with the text
// description.
func WaitUntil(t testing.TB, description string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("condition did not become true: %s", description)
		}
	}
}
