package exchange

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/wal"
)

// forgetting is the same log under a memory that knows only the names: as of what
// is older than memory keeps.
func (c *chronicle) forgetting() *explainer {
	c.t.Helper()
	other := *c.explainer
	other.state = state.New()
	reader, err := c.log.NewReader(0)
	if err != nil {
		c.t.Fatal(err)
	}
	defer reader.Close()
	first, err := reader.Next()
	if err != nil {
		c.t.Fatal(err)
	}
	given, err := factOf(&first)
	if err != nil {
		c.t.Fatal(err)
	}
	other.state.Apply(first.Seq, first.At, given.fact)
	return &other
}

// among writes leads of others.
func (c *chronicle) among(n int) {
	c.t.Helper()
	for i := range n {
		c.add(&event.LeadDecided{Lead: c.draw(byte(200 + i%50)), Campaign: 1, Supplier: 1, Catalog: 1, Reason: market.ReasonNoBuyer, Keep: 1})
	}
}

// TestExplainFindsByTime: without memory's help too a lead is found, anywhere in
// its minute, in the log and in the archive, and so is what came later.
func TestExplainFindsByTime(t *testing.T) {
	for name, delay := range map[string]time.Duration{"at once": 0, "at its ceiling": 5 * time.Second, "after a minute": time.Minute} {
		t.Run(name, func(t *testing.T) {
			c := newChronicle(t)
			c.configured(1, "buy_1", "buy_2")
			c.among(30)
			c.later(time.Hour)
			id := c.draw(1)
			c.later(delay)
			c.among(30)
			c.posted(id)
			c.among(30)
			c.settled(id, event.SettledDelivered)
			c.later(time.Hour)
			c.among(30)
			want := c.told(id)
			c.archived()
			told, err := c.forgetting().lead(id)
			if err != nil || told.outcomes() != want.outcomes() || told.Status != "ACCEPTED" || told.Delivery != "delivered" || told.Truncated {
				t.Errorf("%+v, %v", told, err)
			}
		})
	}
}

// archived moves what may go into the archive, and waits for it.
func (c *chronicle) archived() {
	c.t.Helper()
	c.log.Archive(c.seq, 0)
	eventually(c.t, "segments are in the archive", func() bool {
		files, _ := os.ReadDir(filepath.Join(c.dir, "archive"))
		return len(files) > 2
	})
}

// TestExplainBounds: what is asked for in vain costs no more than its bounds, and
// what lies beyond them is not found, or is told to be missing.
func TestExplainBounds(t *testing.T) {
	missing := func(t *testing.T, e *explainer, id market.LeadID) {
		t.Helper()
		if told, err := e.lead(id); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("%+v, %v", told, err)
		}
	}
	t.Run("a minute", func(t *testing.T) {
		c := newChronicle(t)
		id := c.draw(1)
		c.later(time.Minute + time.Millisecond)
		c.posted(id)
		missing(t, c.forgetting(), id)
		if c.told(id) == nil {
			t.Error("memory leads to it all the same")
		}
	})
	t.Run("a second", func(t *testing.T) {
		c := newChronicle(t)
		early := market.LeadID(market.MakeID((c.now+int64(time.Second))/int64(time.Millisecond), [10]byte{1}))
		tooEarly := market.LeadID(market.MakeID((c.now+int64(time.Second))/int64(time.Millisecond)+1, [10]byte{1}))
		c.posted(early)
		c.posted(tooEarly)
		if told, err := c.forgetting().lead(early); err != nil {
			t.Errorf("%+v, %v", told, err)
		}
		missing(t, c.forgetting(), tooEarly)
	})
	t.Run("entries", func(t *testing.T) {
		c := newChronicle(t)
		c.among(20)
		id := c.draw(1)
		c.posted(id)
		e := c.forgetting()
		e.reach.entries = 21
		missing(t, e, id)
		if e.reach.entries++; e.reach.entries != 22 {
			t.Fatal()
		}
		if _, err := e.lead(id); err != nil {
			t.Error(err)
		}
	})
	t.Run("bytes", func(t *testing.T) {
		c := newChronicle(t)
		c.among(20)
		id := c.draw(1)
		c.posted(id)
		e := c.forgetting()
		e.reach.bytes = 500
		missing(t, e, id)
	})
	t.Run("history", func(t *testing.T) {
		c := newChronicle(t)
		id := c.draw(1)
		c.posted(id)
		for range 3 {
			c.later(time.Hour)
			c.among(40)
		}
		c.log.Archive(c.seq, c.now-1)
		eventually(t, "history has gone", func() bool { _, err := c.log.At(2); return errors.Is(err, wal.ErrGone) })
		missing(t, c.explainer, id)
	})
}

// readTo is how many bytes a search reads that ends with an entry.
func (c *chronicle) readTo(seq uint64) int64 {
	c.t.Helper()
	reader, err := c.log.NewReader(seq)
	if err != nil {
		c.t.Fatal(err)
	}
	defer reader.Close()
	if _, err := reader.Next(); err != nil {
		c.t.Fatal(err)
	}
	return reader.Bytes()
}

// TestExplainTruncated: an open delivery is followed for its time, and where the end
// of a settled one is out of reach it is read by itself.
func TestExplainTruncated(t *testing.T) {
	for name, bound := range map[string]func(r *reach, read int64){
		"time":    func(r *reach, _ int64) { r.later = time.Minute },
		"entries": func(r *reach, _ int64) { r.entries = 3 },
		"bytes":   func(r *reach, read int64) { r.bytes = read },
		"facts":   func(r *reach, _ int64) { r.facts = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			c := newChronicle(t)
			c.configured(1, "buy_1", "buy_2")
			id := c.draw(1)
			c.posted(id)
			tried := c.add(&event.PostTried{Lead: id, Attempt: 1, At: c.now, Status: 500})
			if told := c.told(id); told.Truncated {
				t.Error("truncated, and there is no more")
			}
			c.later(time.Hour)
			c.among(10)
			c.add(&event.PostTried{Lead: id, Attempt: 2, At: c.now})
			bound(&c.reach, c.readTo(tried))
			if told := c.told(id); !told.Truncated || len(told.Posts[0].Tries) != 1 || told.Status != "OPEN" {
				t.Errorf("open: %+v", told)
			}
			c.settled(id, event.SettledDelivered)
			if told := c.told(id); !told.Truncated || told.Delivery != "delivered" || len(told.Posts[0].Tries) != 1 || told.outcomes() != "buy_1 won, buy_2 capped" {
				t.Errorf("settled: %+v", told)
			}
			c.reach = usualReach
			if told := c.told(id); told.Truncated || len(told.Posts[0].Tries) != 2 {
				t.Errorf("all of it: %+v", told)
			}
		})
	}
}

// TestExplainIgnoresDuplicates: leads that were turned away as duplicates of one are
// no part of its delivery, however many they are.
func TestExplainIgnoresDuplicates(t *testing.T) {
	c := newChronicle(t)
	id := c.draw(1)
	c.posted(id)
	for n := range byte(20) {
		c.add(&event.LeadDecided{Lead: c.draw(50 + n), DuplicateOf: id, Reason: market.ReasonDuplicate})
	}
	c.settled(id, event.SettledDelivered)
	c.reach.facts = 5
	if told := c.told(id); told.Truncated || told.Delivery != "delivered" {
		t.Errorf("%+v", told)
	}
	if told := c.told(c.draw(50)); told.DuplicateOf != id.String() || told.Reason != "duplicate" {
		t.Errorf("%+v", told)
	}
}

// TestExplainManyPosted: of the leads that were posted at one bid, one refused after
// the other, the first are told of; and those of other bids are not.
func TestExplainManyPosted(t *testing.T) {
	c := newChronicle(t)
	held := c.offering(1, "theirs")
	auction := held.Auction
	c.add(held)
	other := c.offering(2, "")
	for n := range byte(maxClaimants + 2) {
		c.takenUp(c.draw(10+n), held, 1, event.SettledRefused)
		c.takenUp(c.draw(100+n), other, 1, event.SettledRefused)
	}
	told, err := c.explainer.auction(auction)
	if err != nil || len(told.Leads) != maxClaimants || told.Status != "BID" {
		t.Fatalf("%+v, %v", told, err)
	}
	for i, lead := range told.Leads {
		if lead.ID != c.draw(10+byte(i)).String() || lead.Status != "UNMATCHED" || lead.AuctionID != auction.String() {
			t.Errorf("lead %d: %+v", i, lead)
		}
	}
	lead, err := c.explainer.lead(c.draw(10))
	if err != nil || lead.Auction == nil || lead.Auction.ID != auction.String() {
		t.Errorf("%+v, %v", lead, err)
	}
	if alone, err := c.explainer.lead(c.draw(100)); err != nil || alone.Auction != nil {
		t.Errorf("of a ping that is gone: %+v, %v", alone, err)
	}
}
