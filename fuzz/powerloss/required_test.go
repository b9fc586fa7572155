package main

import (
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

func leadOf(n byte) (id market.LeadID)       { id[15] = n; return id }
func requestOf(n byte) (id market.RequestID) { id[15] = n; return id }

// sampleIndex is a log with five leads. Lead 1 is recorded for alpha. Lead 2 is posted to blue,
// which refuses it, and then to red, which accepts it. Lead 3 is posted to blue, fails and is
// accepted later. Lead 4 is unsold. Lead 5 is in delivery.
func sampleIndex() *logIndex {
	const blue, red, alpha = 1, 2, 3
	f := &logIndex{}
	f.init()
	to := func(buyer market.PermanentNumber) event.Sale { return event.Sale{Buyer: buyer} }
	at := func(host string) event.PostIntent { return event.PostIntent{URL: "http://" + host + "/v1/post"} }
	for i, fact := range []event.Event{
		&event.ConfigObjectNumbersAssigned{Names: []event.NameNumberAssignment{
			{Kind: event.ObjectBuyer, Ref: blue, ID: "blue"},
			{Kind: event.ObjectBuyer, Ref: red, ID: "red"},
			{Kind: event.ObjectBuyer, Ref: alpha, ID: "alpha"},
			{Kind: event.ObjectCampaign, Ref: blue, ID: "cmp"},
		}},
		&event.ConfigActivated{Version: 1, Document: "first"},
		&event.LeadDecided{Lead: leadOf(1), Request: requestOf(1), Sale: to(alpha), Webhook: market.WebhookPosted},
		&event.LeadDecided{Lead: leadOf(2), Request: requestOf(2), Sale: to(blue), Post: at("blue:1")},
		&event.PostSettled{Lead: leadOf(2), Settlement: event.SettledRefused, Sale: to(blue), Next: to(red), Post: at("red:1")},
		&event.LeadDecided{Lead: leadOf(3), Request: requestOf(3), Sale: to(blue), Post: at("blue:1")},
		&event.PostAttemptFailed{Lead: leadOf(3), Attempt: 1},
		&event.PostSettled{Lead: leadOf(2), Settlement: event.SettledDelivered, Sale: to(red), Webhook: market.WebhookPosted},
		&event.PostSettled{Lead: leadOf(3), Settlement: event.SettledPending, Sale: to(blue)},
		&event.PostSettled{Lead: leadOf(3), Settlement: event.SettledDelivered, Sale: to(blue), Webhook: market.WebhookPosted},
		&event.LeadDecided{Lead: leadOf(4), Request: requestOf(4), Webhook: market.WebhookUnmatched},
		&event.LeadDecided{Lead: leadOf(5), Request: requestOf(5), Sale: to(blue), Post: at("blue:1")},
		&event.PingAuctionCompleted{Request: requestOf(6)},
		&event.LeadStatusChangesDecided{Request: requestOf(7), Changes: []event.DecidedLeadStatusChange{{Lead: leadOf(1), Webhook: market.WebhookSold}}},
		&event.ConfigActivated{Version: 2, Document: "second"},
	} {
		f.add(uint64(i+1), fact)
	}
	return f
}

// Each ack relies on one entry, or none.
func TestRequiredSeq(t *testing.T) {
	lead, request := func(n byte) string { return leadOf(n).String() }, func(n byte) string { return requestOf(n).String() }
	for what, test := range map[string]struct {
		told ack
		seq  uint64 // 0: no entry
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
		"posted to the first":             {ack{lead: lead(2), postHost: "blue:1"}, 4},
		"posted to the second":            {ack{lead: lead(2), postHost: "red:1"}, 5},
		"posted to one that it is not of": {ack{lead: lead(3), postHost: "red:1"}, 0},
		"posted, and only recorded":       {ack{lead: lead(1), postHost: "alpha:1"}, 0},
		"the event of a sale":             {ack{lead: lead(2), event: "lead.posted"}, 8},
		"of a late one":                   {ack{lead: lead(3), event: "lead.posted"}, 10},
		"of none":                         {ack{lead: lead(4), event: "lead.unmatched"}, 11},
		"of a report":                     {ack{lead: lead(1), event: "lead.sold"}, 14},
		"an event that nothing owes":      {ack{lead: lead(5), event: "lead.posted"}, 0},
		"of another type":                 {ack{lead: lead(1), event: "lead.unmatched"}, 0},
	} {
		test.told.revision = -1
		seq, err := sampleIndex().requiredSeq(&test.told)
		if seq != test.seq || (err == nil) != (test.seq != 0) {
			t.Errorf("%s: entry %d, %v; want %d", what, seq, err, test.seq)
		}
	}
}

func TestLogIndexDetectsDuplicates(t *testing.T) {
	for what, fact := range map[string]event.Event{
		"is decided twice": &event.LeadDecided{Lead: leadOf(1), Request: requestOf(20)},
		"has two entries":  &event.LeadDecided{Lead: leadOf(20), Request: requestOf(1)},
		"req_":             &event.PingAuctionCompleted{Request: requestOf(6)},
	} {
		f := sampleIndex()
		if len(f.duplicates) > 0 {
			t.Fatalf("an honest log: %q", f.duplicates)
		}
		if f.add(30, fact); !strings.Contains(strings.Join(f.duplicates, "; "), what) {
			t.Errorf("%s: %q", what, f.duplicates)
		}
	}
}

// A violation without a power loss is a finding about the exchange, not about its syncs.
func TestCheckWithoutLoss(t *testing.T) {
	honest := func() *lifetime { return &lifetime{log: &writtenLog{index: *sampleIndex()}} }
	if err := honest().checkWithoutLoss(); err != nil {
		t.Error(err)
	}
	for what, lie := range map[string]func(l *lifetime){
		"no entry belongs to it":          func(l *lifetime) { l.acks = []ack{{request: requestOf(9).String(), revision: -1}} },
		"earlier outputs relied on":       func(l *lifetime) { l.promisesBefore.seq = 3 },
		"decided twice":                   func(l *lifetime) { l.log.index.add(30, &event.LeadDecided{Lead: leadOf(1)}) },
		"no entry triggers it":            func(l *lifetime) { l.acks = []ack{{lead: leadOf(5).String(), event: "lead.posted", revision: -1}} },
		"violations without a power loss": func(l *lifetime) { l.acks = []ack{{lead: leadOf(5).String(), postHost: "red:1", revision: -1}} },
	} {
		l := honest()
		lie(l)
		if err := l.checkWithoutLoss(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
