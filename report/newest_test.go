package report

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/event"
)

func soldLead(number int) *event.LeadDecided {
	return &event.LeadDecided{Lead: leadID(number), Campaign: 1, Supplier: 1, Sale: sale(1, 12_000_000), Fields: []event.LeadField{text("state", "CA")}}
}

// TestQuestionWakesTheReport: a question finds a lead of the moment before, although the report reads
// the log once an hour. It takes less than its limit on the bubble's clock, which stands still while
// the report works.
func TestQuestionWakesTheReport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := newTestLog()
		opt := testOptions(log, t.TempDir())
		opt.pollInterval = time.Hour
		r := startReport(t, log, opt)
		for i := range 3 {
			log.log(time.Duration(i)*time.Second, soldLead(i+1))
			began := time.Now()
			if !r.WaitBrieflyForNewestEntries(context.Background(), 0) || time.Since(began) >= newestWait {
				t.Fatalf("lead %d is not in the report after %v", i, time.Since(began))
			}
			found, _, err := r.SearchLeads(context.Background(), LeadOrAuctionQuery{Limit: 10})
			if err != nil || len(found) != i+1 {
				t.Fatalf("found %d leads, %v, want %d", len(found), err, i+1)
			}
			synctest.Wait()
		}
	})
}

// TestQuestionWaitsForALimitedTime: while the report cannot read the log, a question about the present
// waits for its limit and reports missing entries. A question about the past does not wait.
func TestQuestionWaitsForALimitedTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := newTestLog()
		log.log(time.Minute, soldLead(1))
		opt := testOptions(log, t.TempDir())
		opt.pollInterval = time.Hour
		r := startReport(t, log, opt)
		synctest.Wait()
		log.change(func() { log.stalled = true })
		log.log(2*time.Minute, soldLead(2))
		check := func(until time.Time, wantNewest bool, wantWait time.Duration) {
			t.Helper()
			nanos := int64(0)
			if !until.IsZero() {
				nanos = until.UnixNano()
			}
			began := time.Now()
			if got := r.WaitBrieflyForNewestEntries(context.Background(), nanos); got != wantNewest || time.Since(began) != wantWait {
				t.Errorf("until %v: got %v after %v, want %v after %v", until, got, time.Since(began), wantNewest, wantWait)
			}
		}
		check(time.Time{}, false, newestWait)
		check(start.Add(24*time.Hour), false, newestWait)
		check(start.Add(2*time.Minute), false, newestWait)
		check(start.Add(time.Minute), true, 0)
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		if r.WaitBrieflyForNewestEntries(ended, 0) {
			t.Error("a question that was cancelled got the newest entries")
		}
		log.change(func() { log.stalled = false })
		check(time.Time{}, true, 0)
	})
}

// TestQuestionDoesNotWaitForAPausedReport: without disk space the report does not continue soon.
func TestQuestionDoesNotWaitForAPausedReport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := newTestLog()
		opt := testOptions(log, t.TempDir())
		opt.pollInterval, opt.HasDiskSpace = time.Hour, func() bool { return false }
		r := startReport(t, log, opt)
		synctest.Wait()
		log.log(time.Minute, soldLead(1))
		began := time.Now()
		if r.WaitBrieflyForNewestEntries(context.Background(), 0) || time.Since(began) != 0 {
			t.Errorf("a question to a paused report waits %v", time.Since(began))
		}
	})
}

// TestReportAnswersWhileEntriesKeepArriving keeps the report one entry behind, as a steady stream of
// leads does: an entry arrives whenever the report has read the log's end. The report has each earlier
// entry then, so it is hardly behind, and answers questions about the present.
func TestReportAnswersWhileEntriesKeepArriving(t *testing.T) {
	log := newTestLog()
	log.log(0, soldLead(1))
	log.arriving = true
	opt := testOptions(log, t.TempDir())
	var clock atomic.Int64
	opt.Now = func() time.Time { return start.Add(time.Duration(clock.Load())) }
	r := startReport(t, log, opt)
	for range 5 {
		seq := r.ProgressStatus().Seq
		r.waitUntil("the report has two more batches", func() bool { return r.ProgressStatus().Seq >= seq+2 })
		clock.Add(int64(2 * maxLag))
	}
	seq := r.ProgressStatus().Seq
	r.waitUntil("the report has two more batches", func() bool { return r.ProgressStatus().Seq >= seq+2 })
	if status := r.ProgressStatus(); status.Lag != 0 {
		t.Errorf("the report is %s behind, want 0s: the clock has not advanced since it last read the log's end", status.Lag)
	}
	rows, err := r.Ask(t.Context(), wholeTime())
	if err != nil {
		t.Fatalf("a question about the present: %v", err)
	}
	rows.Close()
}
