package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// expectWebhooks sends the supplier's webhooks. The expected one follows from the answer
// and from the lead's final state.
func (x *testExchange) expectWebhooks(answer string, a engine.IngestAnswer) *webhookReceivers {
	x.t.Helper()
	want := "lead.posted"
	switch leadState := x.leadState(a); {
	case strings.HasSuffix(leadState, "unknown"):
		want = ""
	case strings.HasPrefix(leadState, "UNMATCHED") && strings.HasPrefix(answer, "post_rejected"):
		want = "lead.unmatched"
	case strings.HasPrefix(leadState, "UNMATCHED"):
		want = "lead.post_failed"
	}
	r := newReceivers(x.t)
	r.sendDue(x)
	expectEqual(x.t, strings.Join(r.events(), " "), want, "webhooks after answer ", answer)
	return r
}

// These leads are decided before the answer.
func TestWebhooksOfDecision(t *testing.T) {
	oneBuyer := marketSpec{buyers: []buyer{{id: "blue", caps: []string{"total 1"}}}, campaigns: []campaign{{
		method: market.Waterfall, duplicates: anyOf, filterSets: []filterSet{{buyer: "blue", states: "CA"}},
	}}}
	twoBuyers := marketSpec{buyers: []buyer{{id: "blue", postEndpoint: true}, {id: "gold"}}, campaigns: []campaign{{
		method: market.Waterfall, filterSets: []filterSet{{buyer: "blue"}, {buyer: "gold"}},
	}}}
	tests := []struct {
		name    string
		market  marketSpec
		replies []postReply
		leads   []request
		answers string
		want    string
	}{
		{"sold", oneBuyer, nil, []request{leadRequest(1)}, "blue", "lead.posted"},
		{"sold, then caps full", oneBuyer, nil, []request{leadRequest(1), leadRequest(2)}, "blue caps_full", "lead.posted lead.unmatched"},
		{"no buyer in the state", oneBuyer, nil, []request{leadRequest(1, "state", "NY")}, "no_state_match", "lead.unmatched"},
		{"duplicate", oneBuyer, nil, []request{leadRequest(1), leadRequest(1)}, "blue duplicate", "lead.posted lead.unmatched"},
		{"repeated request", oneBuyer, nil, []request{leadRequest(1).withKey("k"), leadRequest(1).withKey("k")}, "blue blue", "lead.posted"},
		{"refused, then sold", twoBuyers, []postReply{refuses}, []request{leadRequest(1)}, "gold", "lead.posted"},
		{"invalid lead", oneBuyer, nil, []request{leadRequest(1, "phone", "1")}, "invalid_payload phone:invalid_format", ""},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, withWebhooks(test.market), func(t *testing.T, x *testExchange) {
			x.buyers.scriptPosts("blue", test.replies...)
			var answers []string
			for _, lead := range test.leads {
				answers = append(answers, x.ingestResult(lead))
			}
			r := newReceivers(t)
			r.sendFor(x, time.Minute)
			expectEqual(t, strings.Join(answers, " "), test.answers, "answers")
			expectEqual(t, strings.Join(r.events(), " "), test.want, "webhooks")
		})
	}
}

// The configuration at the time of an event decides whether it triggers a webhook.
func TestWebhooksFollowConfigurationAtEvent(t *testing.T) {
	runWithExchange(t, "no webhook", twoPostBuyers(), func(t *testing.T, x *testExchange) {
		x.ingestResult(leadRequest(1))
		if required := x.requiredWebhooks(); len(required) > 0 {
			t.Errorf("webhooks %v for a supplier without webhooks", required)
		}
	})
	runWithExchange(t, "added during the delivery", twoPostBuyers(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", accepts.after(7*time.Second))
		x.ingestResult(leadRequest(1))
		x.configure(withWebhooks(twoPostBuyers()))
		r := newReceivers(t)
		r.sendFor(x, time.Minute)
		if got := r.events(); !slices.Equal(got, []string{"lead.posted"}) {
			t.Errorf("webhooks %v, want lead.posted", got)
		}
	})
	runWithExchange(t, "removed during the delivery", withWebhooks(twoPostBuyers()), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", accepts.after(7*time.Second))
		x.ingestResult(leadRequest(1))
		x.configure(twoPostBuyers())
		time.Sleep(time.Minute)
		if required := x.requiredWebhooks(); len(required) > 0 {
			t.Errorf("webhooks %v, want none", required)
		}
	})
	runWithExchange(t, "removed while the webhook is pending", withWebhooks(twoPostBuyers()), func(t *testing.T, x *testExchange) {
		x.ingestResult(leadRequest(1))
		x.configure(twoPostBuyers())
		h, ok := x.state.ClaimDueWebhook(x.state.RefOf(event.ObjectSupplier, "acme"), time.Now().UnixNano())
		m, err := x.engine.BuildWebhookMessageOrDeadLetter(&h)
		if !ok || err != nil || m.Endpoint != (market.OutboundEndpoint{}) || len(m.Body) == 0 {
			t.Errorf("claimed %v, error %v, want a message without endpoint: %+v", ok, err, m)
		}
		x.state.UnclaimWebhook(h)
	})
	runInVirtualTime(t, "another supplier", func(t *testing.T) {
		r := twoPostBuyers()
		r.suppliers = []string{"other"}
		x := newExchange(t, withWebhooks(r))
		x.ingestResult(leadRequest(1, "flo_supplier_id", "other").fromSupplier("other"))
		if required := x.state.SuppliersWithPendingWebhooks(); !slices.Equal(required, []market.PermanentNumber{x.state.RefOf(event.ObjectSupplier, "other")}) {
			t.Errorf("webhooks are pending for %v, want only the other supplier", required)
		}
	})
}

// requiredWebhooks lists the webhooks that the log's events require, as "type lead".
func (x *testExchange) requiredWebhooks() (all []string) {
	x.t.Helper()
	add := func(name market.WebhookType, lead market.LeadID) {
		if name != market.WebhookNone {
			all = append(all, name.String()+" "+lead.String())
		}
	}
	for _, record := range eventsOf[event.Event](x) {
		switch record := record.(type) {
		case *event.LeadDecided:
			add(record.Webhook, record.Lead)
		case *event.PostSettled:
			add(record.Webhook, record.Lead)
		case *event.LeadStatusChangesDecided:
			for i := range record.Changes {
				add(record.Changes[i].Webhook, record.Changes[i].Lead)
			}
		}
	}
	return all
}
