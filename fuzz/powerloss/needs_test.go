package main

import (
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

func leadOf(n byte) (id market.LeadID)       { id[15] = n; return id }
func requestOf(n byte) (id market.RequestID) { id[15] = n; return id }

// history is a log of a few leads: 1 is recorded for alpha; 2 is posted to blue,
// which refuses, and then to red, which takes it; 3 is posted to blue, which fails
// and has it in the end; 4 is unmatched; 5 is still on its way.
func history() *facts {
	const blue, red, alpha = 1, 2, 3
	f := &facts{}
	f.begin()
	to := func(buyer market.Ref) event.Sale { return event.Sale{Buyer: buyer} }
	at := func(host string) event.Post { return event.Post{URL: "http://" + host + "/v1/post"} }
	for i, fact := range []event.Event{
		&event.NamesGiven{Names: []event.Name{
			{Kind: event.NameBuyer, Ref: blue, ID: "blue"},
			{Kind: event.NameBuyer, Ref: red, ID: "red"},
			{Kind: event.NameBuyer, Ref: alpha, ID: "alpha"},
			{Kind: event.NameCampaign, Ref: blue, ID: "cmp"},
		}},
		&event.CatalogSet{Version: 1, Document: "first"},
		&event.LeadDecided{Lead: leadOf(1), Request: requestOf(1), Sale: to(alpha), Webhook: market.WebhookPosted},
		&event.LeadDecided{Lead: leadOf(2), Request: requestOf(2), Sale: to(blue), Post: at("blue:1")},
		&event.PostSettled{Lead: leadOf(2), Settlement: event.SettledRefused, Sale: to(blue), Next: to(red), Post: at("red:1")},
		&event.LeadDecided{Lead: leadOf(3), Request: requestOf(3), Sale: to(blue), Post: at("blue:1")},
		&event.PostTried{Lead: leadOf(3), Attempt: 1},
		&event.PostSettled{Lead: leadOf(2), Settlement: event.SettledDelivered, Sale: to(red), Webhook: market.WebhookPosted},
		&event.PostSettled{Lead: leadOf(3), Settlement: event.SettledPending, Sale: to(blue)},
		&event.PostSettled{Lead: leadOf(3), Settlement: event.SettledDelivered, Sale: to(blue), Webhook: market.WebhookPosted},
		&event.LeadDecided{Lead: leadOf(4), Request: requestOf(4), Webhook: market.WebhookUnmatched},
		&event.LeadDecided{Lead: leadOf(5), Request: requestOf(5), Sale: to(blue), Post: at("blue:1")},
		&event.AuctionHeld{Request: requestOf(6)},
		&event.StatusChanged{Request: requestOf(7), Changes: []event.Change{{Lead: leadOf(1), Webhook: market.WebhookSold}}},
		&event.CatalogSet{Version: 2, Document: "second"},
	} {
		f.take(uint64(i+1), fact)
	}
	return f
}

// TestWhatWasToldRestsOnAnEntry, or on none.
func TestWhatWasToldRestsOnAnEntry(t *testing.T) {
	lead, request := func(n byte) string { return leadOf(n).String() }, func(n byte) string { return requestOf(n).String() }
	for what, test := range map[string]struct {
		told ack
		seq  uint64 // 0: there is none
	}{
		"recorded":                        {ack{request: request(1), lead: lead(1), buyer: "alpha"}, 3},
		"taken by the second":             {ack{request: request(2), lead: lead(2), buyer: "red"}, 8},
		"told as the first's":             {ack{request: request(2), lead: lead(2), buyer: "blue"}, 0},
		"told to be nobody's":             {ack{request: request(2), lead: lead(2)}, 0},
		"not settled in time":             {ack{request: request(3), lead: lead(3), buyer: "blue"}, 9},
		"unmatched":                       {ack{request: request(4), lead: lead(4)}, 11},
		"told before its fate is":         {ack{request: request(5), lead: lead(5), buyer: "blue"}, 0},
		"a bid":                           {ack{request: request(6), status: 200}, 13},
		"a report":                        {ack{request: request(7), status: 200}, 14},
		"a request of which nothing is":   {ack{request: request(9), lead: lead(9)}, 0},
		"another lead than it brought":    {ack{request: request(1), lead: lead(2), buyer: "alpha"}, 0},
		"posted to the first":             {ack{lead: lead(2), host: "blue:1"}, 4},
		"posted to the second":            {ack{lead: lead(2), host: "red:1"}, 5},
		"posted to one that it is not of": {ack{lead: lead(3), host: "red:1"}, 0},
		"posted, and only recorded":       {ack{lead: lead(1), host: "alpha:1"}, 0},
		"the event of a sale":             {ack{lead: lead(2), event: "lead.posted"}, 8},
		"of a late one":                   {ack{lead: lead(3), event: "lead.posted"}, 10},
		"of none":                         {ack{lead: lead(4), event: "lead.unmatched"}, 11},
		"of a report":                     {ack{lead: lead(1), event: "lead.sold"}, 14},
		"an event that nothing owes":      {ack{lead: lead(5), event: "lead.posted"}, 0},
		"of another type":                 {ack{lead: lead(1), event: "lead.unmatched"}, 0},
	} {
		test.told.revision = -1
		seq, err := history().needs(&test.told)
		if seq != test.seq || (err == nil) != (test.seq != 0) {
			t.Errorf("%s: entry %d, %v; want %d", what, seq, err, test.seq)
		}
	}
}

func TestWhatShouldBeOnceIsSeenTwice(t *testing.T) {
	for what, fact := range map[string]event.Event{
		"is decided twice":    &event.LeadDecided{Lead: leadOf(1), Request: requestOf(20)},
		"brought two entries": &event.LeadDecided{Lead: leadOf(20), Request: requestOf(1)},
		"req_":                &event.AuctionHeld{Request: requestOf(6)},
	} {
		f := history()
		if len(f.twice) > 0 {
			t.Fatalf("an honest log: %q", f.twice)
		}
		if f.take(30, fact); !strings.Contains(strings.Join(f.twice, "; "), what) {
			t.Errorf("%s: %q", what, f.twice)
		}
	}
}

// TestALifeIsProvedWithoutALoss: what is wrong while the page cache has all is no
// finding about power.
func TestALifeIsProvedWithoutALoss(t *testing.T) {
	honest := func() *life { return &life{truth: &truth{facts: *history()}} }
	if err := honest().prove(); err != nil {
		t.Error(err)
	}
	for what, lie := range map[string]func(l *life){
		"no entry is of it":         func(l *life) { l.acks = []ack{{request: requestOf(9).String(), revision: -1}} },
		"lives before it told":      func(l *life) { l.before.entry = 3 },
		"decided twice":             func(l *life) { l.truth.facts.take(30, &event.LeadDecided{Lead: leadOf(1)}) },
		"no entry owes it":          func(l *life) { l.acks = []ack{{lead: leadOf(5).String(), event: "lead.posted", revision: -1}} },
		"without any loss of power": func(l *life) { l.acks = []ack{{lead: leadOf(5).String(), host: "red:1", revision: -1}} },
	} {
		l := honest()
		lie(l)
		if err := l.prove(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
