package report

import (
	"context"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/report/projection"
)

// TestFullDiskWritesNoPartOfABatch fills the database while a batch of new leads and of one changed lead is
// written, at each possible statement. SQLite then ends the transaction, and the changed lead must not be
// written outside of it.
func TestFullDiskWritesNoPartOfABatch(t *testing.T) {
	ctx := t.Context()
	nameOf := func(event.ConfigObjectKind, market.PermanentNumber) string { return "name" }
	failures := 0
	for newLeads := 60; newLeads < 130; newLeads++ {
		f := must.Value(openDatabaseForWriting(ctx, filepath.Join(t.TempDir(), "1.db")))(t)
		must.Succeed(t, f.createTablesAndSetMemoryPosition(ctx, databaseProgress{}))
		write := func(leads ...*projection.LeadRow) error {
			b := projection.NewChangeBatch(ctx, f, f.sources)
			for _, l := range leads {
				b.Leads[l.ID] = l
			}
			b.Seq, b.At, b.Entries = f.position.seq+1, start.UnixNano(), 1
			return f.writeBatchInTransaction(ctx, b, nameOf)
		}
		must.Succeed(t, write(&projection.LeadRow{ID: leadID(0), Seq: 1}))
		var pages int
		must.Succeed(t, f.writer.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages))
		must.Succeed(t, f.executeStatement(ctx, "PRAGMA max_page_count = "+strconv.Itoa(pages)))
		changed := must.Value(f.LoadLeadOrNil(ctx, leadID(0)))(t)
		changed.Posts = 2
		batch := []*projection.LeadRow{changed}
		for n := range newLeads {
			batch = append(batch, &projection.LeadRow{ID: leadID(n + 1), Seq: uint64(n + 2)})
		}
		want := 2
		if err := write(batch...); err != nil {
			failures++
			want = 0
		}
		if l := must.Value(f.LoadLeadOrNil(ctx, leadID(0)))(t); l.Posts != want {
			t.Errorf("%d new leads: the changed lead has %d posts in the database, want %d", newLeads, l.Posts, want)
		}
		must.Succeed(t, f.close())
	}
	if failures == 0 {
		t.Error("no batch met the full disk")
	}
}

// TestPostsOfUnknownLead: a lead is older than the report, and two buyers refuse it, in one batch or in two.
// The report keeps the post of the newest buyer.
func TestPostsOfUnknownLead(t *testing.T) {
	refusal := func(from, next market.PermanentNumber) *event.PostSettled {
		return &event.PostSettled{
			Lead: leadID(1), Campaign: 1, Supplier: 1, Settlement: event.SettledRefused, Sale: sale(from, 1), Next: sale(next, 1), Post: event.PostIntent{URL: "https://buyer.example"},
		}
	}
	for name, pause := range map[string]bool{"in one batch": false, "in two batches": true} {
		t.Run(name, func(t *testing.T) {
			log := newTestLog()
			log.log(0, refusal(1, 2))
			if !pause {
				log.log(time.Second, refusal(2, 3))
			}
			r := startReport(t, log, testOptions(log, t.TempDir()))
			r.waitCaughtUp()
			if pause {
				log.log(time.Second, refusal(2, 3))
				r.waitCaughtUp()
			}
			var buyer int
			must.Succeed(t, r.file.readers.QueryRowContext(context.Background(), "SELECT buyer FROM posts").Scan(&buyer))
			if buyer != 3 {
				t.Errorf("the report has the post to buyer %d, want 3", buyer)
			}
		})
	}
}

// TestLagWhileCatchingUp: a report that was behind and catches up is as far behind as its last entry is old.
func TestLagWhileCatchingUp(t *testing.T) {
	log := newTestLog()
	log.log(0, soldLead(1))
	log.log(30*time.Minute, soldLead(2))
	opt := testOptions(log, t.TempDir())
	opt.Now = func() time.Time { return start.Add(30 * time.Minute) }
	r := New(opt)
	r.caughtUpAt = start
	if lag := r.lag(1, start.Add(29*time.Minute).UnixNano()); lag != time.Minute {
		t.Errorf("the lag is %s, want 1m0s", lag)
	}
}
