package engine_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

var update = flag.Bool("update", false, "write the golden files anew")

// chronicle is a log that was written by hand.
type chronicle struct {
	facts []event.Event
	gone  map[uint64]bool // entries that are past the history
	fails bool

	forgotten bool // memory has the names, and no lead any more
}

// At is the chronicle as history.
func (c *chronicle) At(seq uint64) ([]byte, error) {
	switch {
	case c.fails:
		return nil, errors.New("the disk is gone")
	case c.gone[seq]:
		return nil, engine.ErrGone
	}
	return event.Append(nil, c.facts[seq-1]), nil
}

// at is the time of the n-th entry's batch.
func (c *chronicle) at(n int) int64 {
	return time.Date(2026, 3, 1, 9, 30, n, 250_999_999, time.FixedZone("", 3600)).UnixNano()
}

// engine is an exchange that has replayed it.
func (c *chronicle) engine(log engine.Log) (*engine.Engine, *state.State) {
	s := state.New()
	for i, fact := range c.facts {
		if c.forgotten && i > 0 {
			break
		}
		s.Apply(uint64(i+1), c.at(i+1), fact)
	}
	return engine.New(engine.Options{
		State: s, Log: log, History: c, Clock: bubbleClock{}, Entropy: func(p []byte) { clear(p) },
	}), s
}

// theLead is that of every chronicle here.
var theLead = market.LeadID(market.MakeID(1_772_357_400_000, [10]byte{7, 7, 7}))

var dollars = market.Currency{'U', 'S', 'D'}

func named() *event.NamesGiven {
	return &event.NamesGiven{Names: []event.Name{
		{Kind: event.NameSupplier, Ref: 1, ID: "sup_acme"},
		{Kind: event.NameCampaign, Ref: 1, ID: "cmp_auto"},
		{Kind: event.NameBuyer, Ref: 1, ID: "buy_blue"},
		{Kind: event.NameBuyer, Ref: 2, ID: "buy_gold"},
	}}
}

// leadFact is a lead's fact: sold to blue for 12, of which the supplier gets 9.6.
func leadFact(change func(*event.LeadDecided)) *event.LeadDecided {
	fact := &event.LeadDecided{
		Lead: theLead, Campaign: 1, Supplier: 1, Decided: 1, Keep: 1 << 62,
		Sale:   event.Sale{Buyer: 1, Price: 12_000_000, Payout: 9_600_000, Currency: dollars},
		Fields: []event.Field{{Name: "state", Kind: market.KindString, Text: []byte("CA")}, {Name: "first_name", Kind: market.KindString, Text: []byte("Pat")}},
		Sealed: (&event.Contact{Fields: []event.Field{{Name: "phone", Kind: market.KindString, Text: []byte("+14152000001")}}}).AppendTo(nil),
	}
	if change != nil {
		change(fact)
	}
	return fact
}

func owing(what market.WebhookType) func(*event.LeadDecided) {
	return func(fact *event.LeadDecided) { fact.Webhook = what }
}

// sentOut makes a lead's fact an intent, after an auction.
func sentOut(fact *event.LeadDecided) {
	fact.Post = event.Post{URL: "https://blue.example/v1/post", Auction: market.AuctionID{1: 2}}
	fact.Auction.ID = market.AuctionID{1: 2}
}

func settled(how event.Settlement, what market.WebhookType, change func(*event.PostSettled)) *event.PostSettled {
	fact := &event.PostSettled{Lead: theLead, Campaign: 1, Supplier: 1, Settlement: how, Webhook: what, Code: "Pat is known", Sale: leadFact(nil).Sale}
	if change != nil {
		change(fact)
	}
	return fact
}

func changed(from, to market.Status, change func(*event.Change)) *event.StatusChanged {
	c := event.Change{Lead: theLead, Supplier: 1, Result: event.ChangeDone, From: from, To: to, Webhook: to.Webhook()}
	if change != nil {
		change(&c)
	}
	return &event.StatusChanged{Buyer: 1, At: 1, Changes: []event.Change{{Lead: market.LeadID{9}, Result: event.ChangeUnknown}, c}}
}

// examples are one lead's way each; the last fact owes the event.
var examples = []struct {
	name  string
	what  market.WebhookType
	facts []event.Event
}{
	{"posted-recorded", market.WebhookPosted, []event.Event{leadFact(owing(market.WebhookPosted))}},
	{"posted-after-an-auction", market.WebhookPosted, []event.Event{leadFact(sentOut), settled(event.SettledDelivered, market.WebhookPosted, nil)}},
	{"posted-by-a-seller", market.WebhookPosted, []event.Event{
		leadFact(func(fact *event.LeadDecided) {
			sentOut(fact)
			fact.Auction = event.Auction{}
			fact.SellerAuction = "auction \"7\" <&>\u2028\n"
			fact.Fields = append(fact.Fields, event.Field{Name: "lead_uuid", Kind: market.KindString, Text: []byte("4711\\é\xff")})
		}), settled(event.SettledDelivered, market.WebhookPosted, nil),
	}},
	{"posted-to-the-next", market.WebhookPosted, []event.Event{
		leadFact(sentOut), settled(event.SettledRefused, market.WebhookPosted, func(fact *event.PostSettled) {
			fact.Next = event.Sale{Buyer: 2, Price: 8_000_000, Payout: 6_400_001, Currency: dollars}
		}),
	}},
	{"posted-for-nothing", market.WebhookPosted, []event.Event{leadFact(func(fact *event.LeadDecided) {
		fact.Webhook, fact.Sale.Payout = market.WebhookPosted, 0
	})}},
	{"posted-test", market.WebhookPosted, []event.Event{leadFact(func(fact *event.LeadDecided) {
		fact.Webhook, fact.Sale.Test = market.WebhookPosted, true
	})}},
	{"unmatched", market.WebhookUnmatched, []event.Event{leadFact(func(fact *event.LeadDecided) {
		fact.Webhook, fact.Sale, fact.Reason = market.WebhookUnmatched, event.Sale{}, market.ReasonCapsFull
	})}},
	{"unmatched-test", market.WebhookUnmatched, []event.Event{leadFact(func(fact *event.LeadDecided) {
		fact.Webhook, fact.Sale, fact.Reason = market.WebhookUnmatched, event.Sale{Test: true}, market.ReasonFiltered
	})}},
	{"unmatched-after-a-refusal", market.WebhookUnmatched, []event.Event{
		leadFact(sentOut), settled(event.SettledRefused, market.WebhookUnmatched, func(fact *event.PostSettled) { fact.Reason = market.ReasonPostRejected }),
	}},
	{"post-failed", market.WebhookPostFailed, []event.Event{
		leadFact(sentOut), settled(event.SettledPending, market.WebhookNone, nil),
		settled(event.SettledRefused, market.WebhookPostFailed, func(fact *event.PostSettled) { fact.Reason = market.ReasonPostRejected }),
	}},
	{"post-failed-by-an-operator", market.WebhookPostFailed, []event.Event{
		leadFact(sentOut), settled(event.SettledUnknown, market.WebhookNone, nil),
		settled(event.SettledReleased, market.WebhookPostFailed, func(fact *event.PostSettled) { fact.Reason = market.ReasonPostRejected }),
	}},
	{"contacted", market.WebhookContacted, []event.Event{leadFact(nil), changed(market.StatusAccepted, market.StatusContacted, nil)}},
	{"qualified", market.WebhookQualified, []event.Event{leadFact(nil), changed(market.StatusAccepted, market.StatusQualified, nil)}},
	{"sold", market.WebhookSold, []event.Event{
		leadFact(sentOut), settled(event.SettledDelivered, market.WebhookNone, nil),
		changed(market.StatusAccepted, market.StatusSold, func(c *event.Change) { c.Reason = "paid \"at\" once" }),
	}},
	{"returned", market.WebhookReturned, []event.Event{leadFact(nil), changed(market.StatusAccepted, market.StatusReturned, func(c *event.Change) {
		c.Reason, c.Return = "wrong_number", event.Return{Campaign: 1, Credit: 12_000_000, Reverse: 9_600_000, Currency: dollars, Month: 1}
	})}},
	{"returned-and-still-paid", market.WebhookReturned, []event.Event{leadFact(nil), changed(market.StatusAccepted, market.StatusReturned, func(c *event.Change) {
		c.Reason, c.Return = "wrong_number", event.Return{Campaign: 1, Credit: 12_000_000, Currency: dollars, Month: 1}
	})}},
}

// Receivers are written against these bodies.
func TestBodiesOfEvents(t *testing.T) {
	for _, test := range examples {
		t.Run(test.name, func(t *testing.T) {
			c := &chronicle{facts: append([]event.Event{named()}, test.facts...)}
			e, s := c.engine(nil)
			h, ok := s.Webhook(theLead, test.what)
			if !ok || h.Cause != uint64(len(c.facts)) || h.Created != c.at(len(c.facts)) {
				t.Fatalf("the outbox has %+v, %v", h, ok)
			}
			m, err := e.HookMessage(&h)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", "webhooks", test.name+".json"), append(m.Body, '\n'))
			if id := `{"id":"` + m.ID + `"`; m.ID != market.WebhookIDOf(theLead, test.what, h.Created).String() || !strings.HasPrefix(string(m.Body), id) {
				t.Errorf("%s does not begin with %s", m.Body, id)
			}
			for _, person := range []string{"Pat", "+1415"} {
				if strings.Contains(string(m.Body), person) {
					t.Errorf("carries a person: %s", m.Body)
				}
			}
		})
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, got, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; look at it and run with -update if it is right. Got:\n%s", path, got)
	}
}

// What is past the log's history is told as memory has it: the event is the same,
// and what memory never had is null.
func TestEventsPastTheHistory(t *testing.T) {
	tests := []struct {
		name string
		gone []uint64
		want string
	}{
		{"posted-recorded", []uint64{2}, `"lead_uuid":null,"auction_id":null,"campaign_id":"cmp_auto","supplier_id":"sup_acme","buyer_id":"buy_blue","status":"ACCEPTED","price":{"amount":9.6,"currency":"USD"},"reason":null}}`},
		{"posted-by-a-seller", []uint64{2}, `"lead_uuid":null,"auction_id":null,"campaign_id":"cmp_auto","supplier_id":"sup_acme","buyer_id":"buy_blue","status":"ACCEPTED","price":{"amount":9.6,"currency":"USD"},"reason":null}}`},
		{"posted-to-the-next", []uint64{2, 3}, `"buyer_id":"buy_gold","status":"ACCEPTED","price":{"amount":6.400001,"currency":"USD"},"reason":null}}`},
		{"unmatched", []uint64{2}, `"buyer_id":null,"status":"UNMATCHED","price":null,"reason":"caps_full"}}`},
		{"unmatched-after-a-refusal", []uint64{2, 3}, `"buyer_id":null,"status":"UNMATCHED","price":null,"reason":"post_rejected"}}`},
		{"post-failed", []uint64{2, 3, 4}, `"buyer_id":null,"status":"UNMATCHED","price":null,"reason":"post_rejected"}}`},
		{"sold", []uint64{2, 3, 4}, `"buyer_id":"buy_blue","status":"sold","price":{"amount":9.6,"currency":"USD"},"reason":null}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := &chronicle{gone: map[uint64]bool{}}
			var what market.WebhookType
			for _, example := range examples {
				if example.name == test.name {
					c.facts, what = append([]event.Event{named()}, example.facts...), example.what
				}
			}
			for _, seq := range test.gone {
				c.gone[seq] = true
			}
			e, s := c.engine(nil)
			h, _ := s.Webhook(theLead, what)
			m, err := e.HookMessage(&h)
			if err != nil || !strings.HasSuffix(string(m.Body), test.want) {
				t.Errorf("%v: %s, want …%s", err, m.Body, test.want)
			}
		})
	}
}

// A lead that has left memory is told by the fact that owes the event, if that is
// still there: only what the lead's own fact said is lost.
func TestEventsOfAForgottenLead(t *testing.T) {
	want := map[string]string{
		"posted-after-an-auction": `"buyer_id":"buy_blue","status":"ACCEPTED","price":{"amount":9.6,"currency":"USD"},"reason":null}}`,
		"posted-to-the-next":      `"buyer_id":"buy_gold","status":"ACCEPTED","price":{"amount":6.400001,"currency":"USD"},"reason":null}}`,
		"post-failed":             `"buyer_id":null,"status":"UNMATCHED","price":null,"reason":"post_rejected"}}`,
		"returned":                `"buyer_id":"buy_blue","status":"returned","price":null,"reason":"wrong_number","reversed":{"amount":9.6,"currency":"USD"}}}`,
	}
	for _, test := range examples {
		tail, known := want[test.name]
		if len(test.facts) > 1 && !known {
			continue
		}
		if len(test.facts) == 1 { // the lead's own fact owes it: nothing is lost
			body := must[[]byte](t)(os.ReadFile(filepath.Join("testdata", "webhooks", test.name+".json")))
			tail = strings.TrimSpace(string(body))
		} else {
			tail = `,"lead_uuid":null,"auction_id":null,"campaign_id":"cmp_auto","supplier_id":"sup_acme",` + tail
		}
		c := &chronicle{facts: append([]event.Event{named()}, test.facts...), forgotten: true}
		e, _ := c.engine(nil)
		last := len(c.facts)
		m, err := e.HookMessage(&state.QueuedWebhook{Lead: theLead, Type: test.what, Supplier: 1, Cause: uint64(last), Created: c.at(last)})
		if err != nil || !strings.HasSuffix(string(m.Body), tail) {
			t.Errorf("%s: %v: %s, want …%s", test.name, err, m.Body, tail)
		}
	}
}

// An event of which nothing is known any more can be told to nobody.
func TestEventOfNothing(t *testing.T) {
	bubble(t, "gone", func(t *testing.T) {
		c := &chronicle{facts: []event.Event{named()}, gone: map[uint64]bool{77: true}}
		log := newMemoryLog(t)
		defer log.close()
		log.entries = append(log.entries, entry{1, event.Append(nil, named())})
		e, _ := c.engine(log)
		h := state.QueuedWebhook{Lead: theLead, Type: market.WebhookPosted, Supplier: 1, Cause: 77, Created: 1, Attempts: 2}
		if _, err := e.HookMessage(&h); !errors.Is(err, engine.ErrGone) {
			t.Errorf("%v", err)
		}
		fact, err := new(event.Decoder).Decode(log.durable()[1].data)
		if tried, ok := fact.(*event.WebhookTried); err != nil || !ok || tried.Outcome != event.WebhookDead || tried.Lead != theLead || tried.Attempt != 3 {
			t.Errorf("logged is %+v", fact)
		}
	})
	t.Run("the disk fails", func(t *testing.T) {
		c := &chronicle{facts: []event.Event{named(), leadFact(owing(market.WebhookPosted))}, fails: true}
		e, s := c.engine(nil)
		h, _ := s.Webhook(theLead, market.WebhookPosted)
		if _, err := e.HookMessage(&h); !errors.Is(err, engine.ErrUnavailable) {
			t.Errorf("%v", err)
		}
		e.Close()
		c.fails = false
		if _, err := e.HookMessage(&h); err != nil && !errors.Is(err, engine.ErrUnavailable) {
			t.Errorf("%v", err)
		}
	})
}
