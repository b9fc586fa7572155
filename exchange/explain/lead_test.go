package explain

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/exchange/logtest"
)

// TestExplainDelivery: the lead's state after each sequence of settlements.
func TestExplainDelivery(t *testing.T) {
	type step struct {
		result event.PostSettlement
		change func(*event.PostSettled)
	}
	toNext := func(url string) func(*event.PostSettled) {
		return func(s *event.PostSettled) {
			s.Next, s.Post.URL = logtest.SaleTo(3), url
			s.Trail = []event.FilterSetsWithOutcome{{Outcome: market.OutcomePostRejected, FilterSets: bitset.Set{1}}, {Outcome: market.OutcomeCapped, FilterSets: bitset.Set{2}}}
			accepted := market.OutcomePostPending
			if url == "" {
				accepted = market.OutcomeWon
			}
			s.Trail = append(s.Trail, event.FilterSetsWithOutcome{Outcome: accepted, FilterSets: bitset.Set{4}})
		}
	}
	rejected := func(s *event.PostSettled) { s.Reason, s.Status, s.Code = market.ReasonPostRejected, 422, "score" }
	for name, row := range map[string]struct {
		steps    []step
		status   string // status, delivery and reason
		outcomes string
		why      string
	}{
		"in delivery":        {nil, "OPEN pending ", "buy_1 post_pending, buy_2 capped", "The delivery to buy_1, for 12.5 USD, is in progress."},
		"delivered":          {[]step{{event.SettledDelivered, nil}}, "ACCEPTED delivered ", "buy_1 won, buy_2 capped", "Sold to buy_1 for 12.5 USD. The buyer acknowledged the lead."},
		"answered meanwhile": {[]step{{event.SettledPending, nil}}, "ACCEPTED pending ", "buy_1 post_pending, buy_2 capped", "buy_1 is the buyer, for 12.5 USD, but has not acknowledged the lead yet; the attempts continue."},
		"delivered later":    {[]step{{event.SettledPending, nil}, {event.SettledDelivered, nil}}, "ACCEPTED delivered ", "buy_1 won, buy_2 capped", "The buyer acknowledged the lead."},
		"refused":            {[]step{{event.SettledRefused, rejected}}, "UNMATCHED failed post_rejected", "buy_1 post_rejected, buy_2 capped", "The buyers to which it was posted refused it or were not reached, and no other buyer could accept it. Of 3 candidates: 1 at a cap, 1 not asked, 1 rejected the lead or not reached. The last buyer, buy_1, did not accept it: HTTP 422 score."},
		"not reached":        {[]step{{event.SettledRefused, func(s *event.PostSettled) { s.Reason, s.Fault = market.ReasonPostRejected, market.FaultResolve }}}, "UNMATCHED failed post_rejected", "buy_1 post_rejected, buy_2 capped", "The last buyer, buy_1, did not accept it: no address for the host name of the endpoint (DNS)."},
		"unknown":            {[]step{{event.SettledPending, nil}, {event.SettledUnknown, nil}}, "ACCEPTED unknown ", "buy_1 post_pending, buy_2 capped", "Ask the buyer, then confirm, release or resend the delivery."},
		"resent":             {[]step{{event.SettledUnknown, nil}, {event.SettledResent, nil}}, "ACCEPTED pending ", "buy_1 post_pending, buy_2 capped", "the attempts continue"},
		"confirmed":          {[]step{{event.SettledUnknown, nil}, {event.SettledConfirmed, nil}}, "ACCEPTED confirmed ", "buy_1 won, buy_2 capped", "An operator confirmed that the buyer has the lead."},
		"released":           {[]step{{event.SettledUnknown, nil}, {event.SettledReleased, rejected}}, "UNMATCHED released post_rejected", "buy_1 post_rejected, buy_2 capped", "An operator released the delivery"},
		"to the next buyer":  {[]step{{event.SettledRefused, toNext("https://next.example")}}, "OPEN pending ", "buy_1 post_rejected, buy_2 capped, buy_3 post_pending", "The delivery to buy_3"},
		"accepted by the next buyer": {
			[]step{{event.SettledRefused, toNext("https://next.example")}, {event.SettledDelivered, func(s *event.PostSettled) { s.Sale = logtest.SaleTo(3) }}},
			"ACCEPTED delivered ", "buy_1 post_rejected, buy_2 capped, buy_3 won", "Sold to buy_3 for 12.5 USD. The buyer acknowledged the lead. Before that, buy_1 did not accept it: the buyer was not reached.",
		},
		"answered during the second delivery": {
			[]step{{event.SettledRefused, toNext("https://next.example")}, {event.SettledPending, func(s *event.PostSettled) { s.Sale = logtest.SaleTo(3) }}},
			"ACCEPTED pending ", "buy_1 post_rejected, buy_2 capped, buy_3 post_pending", "buy_3 is the buyer, for 12.5 USD, but has not acknowledged the lead yet; the attempts continue. Before that, buy_1 did not accept it: the buyer was not reached.",
		},
		"recorded for the next buyer": {[]step{{event.SettledRefused, toNext("")}}, "ACCEPTED none ", "buy_1 post_rejected, buy_2 capped, buy_3 won", "The buyer has no endpoint, so the sale is only recorded. Before that, buy_1 did not accept it: the buyer was not reached."},
	} {
		t.Run(name, func(t *testing.T) {
			c := newHistory(t)
			c.activateConfig(1, "buy_1", "buy_2", "buy_3")
			id := c.NewLeadID(1)
			c.AddLeadPostedToBuyer1(id)
			for _, step := range row.steps {
				if step.change == nil {
					step.change = func(*event.PostSettled) {}
				}
				c.AdvanceClock(time.Second)
				c.AddPostResult(id, step.result, step.change)
			}
			doc := c.mustExplainLead(id)
			if got := doc.Status + " " + doc.Delivery + " " + doc.Reason; got != row.status {
				t.Errorf("state %q, want %q", got, row.status)
			}
			if got := strings.TrimSuffix(doc.outcomesText(), ", buy_3 not_asked"); got != row.outcomes {
				t.Errorf("candidates %q, want %q", got, row.outcomes)
			}
			if !strings.Contains(doc.Why, row.why) {
				t.Errorf("why: %q, want %q", doc.Why, row.why)
			}
			if sold := doc.Status != "UNMATCHED"; sold != (doc.Price != nil) || sold != (doc.Buyer != "") {
				t.Errorf("price %v, buyer %q", doc.Price, doc.Buyer)
			}
			if doc.Truncated || doc.Method != "waterfall" || doc.Supplier != "sup" || doc.Campaign != "cmp" {
				t.Errorf("%+v", doc)
			}
		})
	}
}

// TestExplainPostAttempts: the attempts and settlements in order, with their times.
func TestExplainPostAttempts(t *testing.T) {
	c := newHistory(t)
	id, other := c.NewLeadID(1), c.NewLeadID(2)
	c.AddLeadPostedToBuyer1(id)
	c.AddLeadPostedToBuyer1(other)
	c.AdvanceClock(time.Second)
	c.Add(&event.PostAttemptFailed{Lead: id, Attempt: 1, At: c.Now, Status: 503})
	c.Add(&event.PostAttemptFailed{Lead: other, Attempt: 1, At: c.Now, Status: 500})
	c.Add(&event.LeadDecided{Lead: c.NewLeadID(3), DuplicateOf: id, Reason: market.ReasonDuplicate})
	c.AdvanceClock(2 * time.Second)
	c.Add(&event.PostAttemptFailed{Lead: id, Attempt: 2, At: c.Now, Fault: market.FaultConnect})
	c.AddPostResult(other, event.SettledDelivered)
	c.AddPostResult(id, event.SettledDelivered, func(s *event.PostSettled) {
		s.Attempts, s.Status, s.Elapsed, s.BuyerLead = 2, 201, 31_500_000, "L-1"
	})
	doc := c.mustExplainLead(id)
	if len(doc.Posts) != 1 || len(doc.Posts[0].Tries) != 2 || len(doc.Posts[0].Settlements) != 1 {
		t.Fatalf("%+v", doc.Posts)
	}
	post := doc.Posts[0]
	at := func(d time.Duration) NanosAsRFC3339 { return NanosAsRFC3339(logtest.Start + int64(d)) }
	if post.Intended != at(0) || post.Tries[0] != (FailedPostAttempt{Attempt: 1, Ended: at(time.Second), Status: 503}) || post.Tries[1] != (FailedPostAttempt{Attempt: 2, Ended: at(3 * time.Second), Fault: "connect"}) {
		t.Errorf("%+v", post)
	}
	want := DeliveryStateChange{At: at(3 * time.Second), Outcome: "delivered", Status: 201, Failed: 2, Elapsed: 31_500_000, BuyerLead: "L-1"}
	if post.Settlements[0] != want || doc.Settled != want.At {
		t.Errorf("%+v, want %+v", post.Settlements[0], want)
	}
	if doc.Margin.String() != "2.5 USD" || doc.Received != at(0) {
		t.Errorf("margin %s, received %d", doc.Margin, doc.Received)
	}
}

// TestExplainAgreesWithMemory: after any sequence of events that an exchange could record,
// the explanation agrees with the lead's row in memory. Every filter set has one outcome.
func TestExplainAgreesWithMemory(t *testing.T) {
	c := newHistory(t)
	c.activateConfig(1, "buy_1", "buy_2", "buy_3", "buy_4", "buy_5", "buy_6", "buy_7", "buy_8", "buy_9")
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		id := market.LeadID(market.ComposeID(c.Now/int64(time.Millisecond), [10]byte{8: byte(n >> 8), 9: byte(n)}))
		c.AddLeadPostedToBuyer1(id)
		buyer, unknown := 1, false
		for open := true; open && rapid.IntRange(0, 9).Draw(rt, "continue") > 0; {
			c.AdvanceClock(time.Duration(rapid.IntRange(0, 5).Draw(rt, "seconds")) * time.Second)
			results := []event.PostSettlement{event.SettledDelivered, event.SettledRefused, event.SettledPending, event.SettledUnknown}
			if unknown {
				results = []event.PostSettlement{event.SettledConfirmed, event.SettledReleased, event.SettledResent}
			}
			ev := &event.PostSettled{Lead: id, Campaign: 1, Settlement: rapid.SampledFrom(results).Draw(rt, "result"), Sale: logtest.SaleTo(buyer)}
			open, unknown = !ev.Settlement.EndsPost(), ev.Settlement == event.SettledUnknown
			switch {
			case ev.Settlement == event.SettledReleased:
				ev.Reason = market.ReasonPostRejected
			case ev.Settlement == event.SettledRefused && buyer < 9 && rapid.Bool().Draw(rt, "has a next buyer"):
				rejected := bitset.Set{1<<buyer - 1}
				buyer++
				ev.Next = logtest.SaleTo(buyer)
				outcome := market.OutcomeWon
				if open = rapid.Bool().Draw(rt, "has an endpoint"); open {
					ev.Post.URL, outcome = "https://next.example", market.OutcomePostPending
				}
				ev.Trail = []event.FilterSetsWithOutcome{{Outcome: market.OutcomePostRejected, FilterSets: rejected}, {Outcome: outcome, FilterSets: bitset.Set{1 << (buyer - 1)}}}
			case ev.Settlement == event.SettledRefused:
				ev.Reason = market.ReasonPostRejected
			}
			c.Add(ev)
		}
		doc, row := c.mustExplainLead(id), mustRow(rt, c, id)
		if doc.Status != row.Status.String() || doc.Delivery != row.Delivery.String() || doc.Reason != row.Reason.String() {
			rt.Fatalf("explained as %s %s %q, memory has %s %s %q", doc.Status, doc.Delivery, doc.Reason, row.Status, row.Delivery, row.Reason)
		}
		if name := c.State.NameOf(event.ObjectBuyer, row.Buyer); doc.Status != "UNMATCHED" && doc.Buyer != name {
			rt.Fatalf("explained with buyer %q, memory has %q", doc.Buyer, name)
		}
		seen := map[uint32]bool{}
		for _, candidate := range doc.Candidates {
			if seen[candidate.Seat] || candidate.Outcome == "post_pending" && doc.Delivery != "pending" && doc.Delivery != "unknown" {
				rt.Fatalf("%s at %s: %s", doc.Status, doc.Delivery, doc.outcomesText())
			}
			seen[candidate.Seat] = true
		}
		if len(seen) != 9 {
			rt.Fatalf("got %d filter sets, want 9", len(seen))
		}
	})
}

func mustRow(t *rapid.T, c *history, id market.LeadID) state.Lead {
	row, ok := c.State.LeadInMemory(id)
	if !ok {
		t.Fatal("memory has no row of the lead")
	}
	return row
}
