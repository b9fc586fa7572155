package explain

import (
	"errors"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/exchange/logtest"
	"pingpost/internal/must"
	"pingpost/wal"
)

// withoutMemory returns an explainer of the same log whose memory has only the names, as for leads
// that memory has dropped.
func (c *history) withoutMemory() *Explainer {
	c.t.Helper()
	other := *c.Explainer
	other.State = state.New()
	reader := must.Value(c.NewReader(0))(c.t)
	defer reader.Close()
	first := must.Value(reader.Next())(c.t)
	names := must.Value(decodeCopyOfEntry(&first))(c.t)
	other.State.Apply(first.Seq, first.At, names.event)
	return &other
}

// TestExplainFindsLeadByTime: without a row in memory, the search finds a lead anywhere in the
// minute of its id, in the log and in the archive, with its later events.
func TestExplainFindsLeadByTime(t *testing.T) {
	for name, delay := range map[string]time.Duration{"at once": 0, "after 5 seconds": 5 * time.Second, "after a minute": time.Minute} {
		t.Run(name, func(t *testing.T) {
			c := newHistory(t)
			c.activateConfig(1, "buy_1", "buy_2")
			c.AddUnsoldLeads(30)
			c.AdvanceClock(time.Hour)
			id := c.NewLeadID(1)
			c.AdvanceClock(delay)
			c.AddUnsoldLeads(30)
			c.AddLeadPostedToBuyer1(id)
			c.AddUnsoldLeads(30)
			c.AddPostResult(id, event.SettledDelivered)
			c.AdvanceClock(time.Hour)
			c.AddUnsoldLeads(30)
			want := c.mustExplainLead(id)
			c.ArchiveSegmentsAndWait()
			doc, err := c.withoutMemory().ExplainLead(id)
			if err != nil || doc.outcomesText() != want.outcomesText() || doc.Status != "ACCEPTED" || doc.Delivery != "delivered" || doc.Truncated {
				t.Errorf("%+v, %v", doc, err)
			}
		})
	}
}

// TestExplainLimits: a search without a result reads no more than its limits. The
// explanation omits events beyond them, or is marked as truncated.
func TestExplainLimits(t *testing.T) {
	mustNotFind := func(t *testing.T, e *Explainer, id market.LeadID) {
		t.Helper()
		if doc, err := e.ExplainLead(id); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("%+v, %v", doc, err)
		}
	}
	t.Run("a minute", func(t *testing.T) {
		c := newHistory(t)
		id := c.NewLeadID(1)
		c.AdvanceClock(time.Minute + time.Millisecond)
		c.AddLeadPostedToBuyer1(id)
		mustNotFind(t, c.withoutMemory(), id)
		if c.mustExplainLead(id) == nil {
			t.Error("memory does not find the lead")
		}
	})
	t.Run("a second", func(t *testing.T) {
		c := newHistory(t)
		early := market.LeadID(market.ComposeID((c.Now+int64(time.Second))/int64(time.Millisecond), [10]byte{1}))
		tooEarly := market.LeadID(market.ComposeID((c.Now+int64(time.Second))/int64(time.Millisecond)+1, [10]byte{1}))
		c.AddLeadPostedToBuyer1(early)
		c.AddLeadPostedToBuyer1(tooEarly)
		if doc, err := c.withoutMemory().ExplainLead(early); err != nil {
			t.Errorf("%+v, %v", doc, err)
		}
		mustNotFind(t, c.withoutMemory(), tooEarly)
	})
	t.Run("entries", func(t *testing.T) {
		c := newHistory(t)
		c.AddUnsoldLeads(20)
		id := c.NewLeadID(1)
		c.AddLeadPostedToBuyer1(id)
		e := c.withoutMemory()
		e.limits.entries = 21
		mustNotFind(t, e, id)
		if e.limits.entries++; e.limits.entries != 22 {
			t.Fatal()
		}
		if _, err := e.ExplainLead(id); err != nil {
			t.Error(err)
		}
	})
	t.Run("bytes", func(t *testing.T) {
		c := newHistory(t)
		c.AddUnsoldLeads(20)
		id := c.NewLeadID(1)
		c.AddLeadPostedToBuyer1(id)
		e := c.withoutMemory()
		e.limits.bytes = 500
		mustNotFind(t, e, id)
	})
	t.Run("history", func(t *testing.T) {
		c := newHistory(t)
		id := c.NewLeadID(1)
		c.AddLeadPostedToBuyer1(id)
		for range 3 {
			c.AdvanceClock(time.Hour)
			c.AddUnsoldLeads(40)
		}
		c.RaiseArchiveAndDeletionLimits(c.Seq, c.Now-1)
		logtest.WaitUntil(t, "the history has been removed", func() bool { _, err := c.EntryAt(2); return errors.Is(err, wal.ErrGone) })
		mustNotFind(t, c.Explainer, id)
	})
}

// bytesUpTo returns the number of bytes that a search reads up to an entry.
func (c *history) bytesUpTo(seq uint64) int64 {
	c.t.Helper()
	reader := must.Value(c.NewReader(seq))(c.t)
	defer reader.Close()
	must.Value(reader.Next())(c.t)
	return reader.RecordBytesRead()
}

// TestExplainTruncated: the search follows an open delivery for its time limit. If the end
// of a settled delivery is beyond the limits, that entry is read separately.
func TestExplainTruncated(t *testing.T) {
	for name, bound := range map[string]func(r *searchLimits, read int64){
		"time":    func(r *searchLimits, _ int64) { r.delivery = time.Minute },
		"entries": func(r *searchLimits, _ int64) { r.entries = 3 },
		"bytes":   func(r *searchLimits, read int64) { r.bytes = read },
		"events":  func(r *searchLimits, _ int64) { r.events = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			c := newHistory(t)
			c.activateConfig(1, "buy_1", "buy_2")
			id := c.NewLeadID(1)
			c.AddLeadPostedToBuyer1(id)
			tried := c.Add(&event.PostAttemptFailed{Lead: id, Attempt: 1, At: c.Now, Status: 500})
			if doc := c.mustExplainLead(id); doc.Truncated {
				t.Error("truncated without later events")
			}
			c.AdvanceClock(time.Hour)
			c.AddUnsoldLeads(10)
			c.Add(&event.PostAttemptFailed{Lead: id, Attempt: 2, At: c.Now})
			bound(&c.limits, c.bytesUpTo(tried))
			if doc := c.mustExplainLead(id); !doc.Truncated || len(doc.Posts[0].Tries) != 1 || doc.Status != "OPEN" {
				t.Errorf("open: %+v", doc)
			}
			c.AddPostResult(id, event.SettledDelivered)
			if doc := c.mustExplainLead(id); !doc.Truncated || doc.Delivery != "delivered" || len(doc.Posts[0].Tries) != 1 || doc.outcomesText() != "buy_1 won, buy_2 capped" {
				t.Errorf("settled: %+v", doc)
			}
			c.limits = defaultLimits
			if doc := c.mustExplainLead(id); doc.Truncated || len(doc.Posts[0].Tries) != 2 {
				t.Errorf("default limits: %+v", doc)
			}
		})
	}
}

// TestExplainIgnoresDuplicates: the delivery of a lead does not include leads that were
// rejected as its duplicates.
func TestExplainIgnoresDuplicates(t *testing.T) {
	c := newHistory(t)
	id := c.NewLeadID(1)
	c.AddLeadPostedToBuyer1(id)
	for n := range byte(20) {
		c.Add(&event.LeadDecided{Lead: c.NewLeadID(50 + n), DuplicateOf: id, Reason: market.ReasonDuplicate})
	}
	c.AddPostResult(id, event.SettledDelivered)
	c.limits.events = 5
	if doc := c.mustExplainLead(id); doc.Truncated || doc.Delivery != "delivered" {
		t.Errorf("%+v", doc)
	}
	if doc := c.mustExplainLead(c.NewLeadID(50)); doc.DuplicateOf != id.String() || doc.Reason != "duplicate" {
		t.Errorf("%+v", doc)
	}
}

// TestExplainListsFirstClaims: of the leads posted at one bid after refusals, the explanation
// has the first maxClaims, and no lead of another bid.
func TestExplainListsFirstClaims(t *testing.T) {
	c := newHistory(t)
	auctionEvent := c.newAuction(1, "theirs")
	auction := auctionEvent.Auction
	c.Add(auctionEvent)
	other := c.newAuction(2, "")
	for n := range byte(maxClaims + 2) {
		c.addClaim(c.NewLeadID(10+n), auctionEvent, 1, event.SettledRefused)
		c.addClaim(c.NewLeadID(100+n), other, 1, event.SettledRefused)
	}
	doc, err := c.ExplainAuction(auction)
	if err != nil || len(doc.Leads) != maxClaims || doc.Status != "BID" {
		t.Fatalf("%+v, %v", doc, err)
	}
	for i, lead := range doc.Leads {
		if lead.ID != c.NewLeadID(10+byte(i)).String() || lead.Status != "UNMATCHED" || lead.AuctionID != auction.String() {
			t.Errorf("lead %d: %+v", i, lead)
		}
	}
	lead, err := c.ExplainLead(c.NewLeadID(10))
	if err != nil || lead.Auction == nil || lead.Auction.ID != auction.String() {
		t.Errorf("%+v, %v", lead, err)
	}
	if alone, err := c.ExplainLead(c.NewLeadID(100)); err != nil || alone.Auction != nil {
		t.Errorf("lead of an auction that is not in the log: %+v, %v", alone, err)
	}
}
