package engine_test

import (
	"slices"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// resent are the events of each lead that operators resent, in the order of the
// facts.
func (x *exchange) resent() map[market.LeadID][]market.WebhookType {
	all := map[market.LeadID][]market.WebhookType{}
	for _, tried := range recordsOf[*event.WebhookAttempted](x) {
		if tried.Outcome == event.WebhookResent {
			all[tried.Lead] = append(all[tried.Lead], tried.Type)
		}
	}
	return all
}

// unheard is an event that so many more attempts do not tell, the last of them now.
func (x *exchange) unheard(a engine.IngestAnswer, what market.WebhookType, attempts int) {
	x.t.Helper()
	for range attempts {
		h, ok := x.state.FindWebhook(a.Lead, what)
		if !ok || h.Dead {
			x.t.Fatalf("%s is %+v", what, h)
		}
		must.Succeed(x.t, x.engine.RecordWebhookAttempt(h, nacks))
	}
	time.Sleep(time.Second)
}

// TestResendKeepsTheOrderOfALead: what is resent may be told before the next one
// is. So a lead's events come to life in the order of their causes, however they
// died.
func TestResendKeepsTheOrderOfALead(t *testing.T) {
	told := []market.WebhookType{market.WebhookPosted, market.WebhookContacted, market.WebhookReturned}
	changes := func(x *exchange, a engine.IngestAnswer) {
		x.reported(saying(a, "contacted"))
		x.reported(saying(a, "returned"))
	}
	for name, die := range map[string]func(x *exchange){
		"all at once": func(x *exchange) {
			for n := range 300 {
				changes(x, x.sold(n))
			}
			must.Succeed(x.t, x.engine.AsOperator("").SetWebhooksOff("acme", true))
			must.Succeed(x.t, x.engine.AsOperator("").SetWebhooksOff("acme", false))
		},
		"the last one first": func(x *exchange) {
			a := x.sold(1)
			changes(x, a)
			for i, attempts := range []int{2, 2, 6, 4, 4} {
				x.unheard(a, told[min(i, 4-i)], attempts)
			}
		},
	} {
		trading(t, name, plain(), func(t *testing.T, x *exchange) {
			die(x)
			dead := must.Value(x.dead())(t)
			if n, err := x.engine.AsOperator("").ResendDeadLetters("acme"); n != len(dead) || err != nil {
				t.Fatalf("%d of %d resent: %v", n, len(dead), err)
			}
			for lead, got := range x.resent() {
				if !slices.Equal(got, told) {
					t.Fatalf("of lead %s are resent %v", lead, got)
				}
			}
		})
	}
}
