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

// expectWebhooks sends what the supplier is owed of a lead, which follows from what it was told
// and from where the lead stands in the end.
func (x *testExchange) expectWebhooks(answers string, a engine.IngestAnswer) *webhookReceivers {
	x.t.Helper()
	want := "lead.posted"
	switch leadState := x.leadState(a); {
	case strings.HasSuffix(leadState, "unknown"):
		want = ""
	case strings.HasPrefix(leadState, "UNMATCHED") && strings.HasPrefix(answers, "post_rejected"):
		want = "lead.unmatched"
	case strings.HasPrefix(leadState, "UNMATCHED"):
		want = "lead.post_failed"
	}
	r := newReceivers(x.t)
	r.sendDue(x)
	expectEqual(x.t, strings.Join(r.events(), " "), want, "told ", answers, ", the supplier hears")
	return r
}

// Leads that are decided at once.
func TestEventsOfADecision(t *testing.T) {
	recorded := marketSpec{buyers: []buyer{{id: "blue", caps: []string{"total 1"}}}, campaigns: []campaign{{
		method: market.Waterfall, duplicates: anyOf, filterSets: []filterSet{{buyer: "blue", states: "CA"}},
	}}}
	recordedNext := marketSpec{buyers: []buyer{{id: "blue", postEndpoint: true}, {id: "gold"}}, campaigns: []campaign{{
		method: market.Waterfall, filterSets: []filterSet{{buyer: "blue"}, {buyer: "gold"}},
	}}}
	tests := []struct {
		name    string
		rig     marketSpec
		replies []postReply
		leads   []request
		answers string
		want    string
	}{
		{"recorded", recorded, nil, []request{leadRequest(1)}, "blue", "lead.posted"},
		{"recorded, then full", recorded, nil, []request{leadRequest(1), leadRequest(2)}, "blue caps_full", "lead.posted lead.unmatched"},
		{"no buyer there", recorded, nil, []request{leadRequest(1, "state", "NY")}, "no_state_match", "lead.unmatched"},
		{"the same again", recorded, nil, []request{leadRequest(1), leadRequest(1)}, "blue duplicate", "lead.posted lead.unmatched"},
		{"one answer twice", recorded, nil, []request{leadRequest(1).withKey("k"), leadRequest(1).withKey("k")}, "blue blue", "lead.posted"},
		{"refused, then recorded", recordedNext, []postReply{refuses}, []request{leadRequest(1)}, "gold", "lead.posted"},
		{"no lead at all", recorded, nil, []request{leadRequest(1, "phone", "1")}, "invalid_payload phone:invalid_format", ""},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, withWebhooks(test.rig), func(t *testing.T, x *testExchange) {
			x.buyers.scriptPosts("blue", test.replies...)
			var answers []string
			for _, lead := range test.leads {
				answers = append(answers, x.ingestResult(lead))
			}
			r := newReceivers(t)
			r.sendFor(x, time.Minute)
			expectEqual(t, strings.Join(answers, " "), test.answers, "told")
			expectEqual(t, strings.Join(r.events(), " "), test.want, "hears")
		})
	}
}

// What a supplier is owed is decided with the event, by the configuration in force
// then.
func TestEventsAreOwedByTheConfigurationInForce(t *testing.T) {
	runWithExchange(t, "no webhook", twoPostBuyers(), func(t *testing.T, x *testExchange) {
		x.ingestResult(leadRequest(1))
		if required := x.requiredWebhooks(); len(required) > 0 {
			t.Errorf("who has no webhook is owed %v", required)
		}
	})
	runWithExchange(t, "configured while the lead is on its way", twoPostBuyers(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", accepts.after(7*time.Second))
		x.ingestResult(leadRequest(1))
		x.configure(withWebhooks(twoPostBuyers()))
		r := newReceivers(t)
		r.sendFor(x, time.Minute)
		if got := r.events(); !slices.Equal(got, []string{"lead.posted"}) {
			t.Errorf("hears %v", got)
		}
	})
	runWithExchange(t, "taken away while the lead is on its way", withWebhooks(twoPostBuyers()), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", accepts.after(7*time.Second))
		x.ingestResult(leadRequest(1))
		x.configure(twoPostBuyers())
		time.Sleep(time.Minute)
		if required := x.requiredWebhooks(); len(required) > 0 {
			t.Errorf("owed %v", required)
		}
	})
	runWithExchange(t, "taken away while the event waits", withWebhooks(twoPostBuyers()), func(t *testing.T, x *testExchange) {
		x.ingestResult(leadRequest(1))
		x.configure(twoPostBuyers())
		h, ok := x.state.ClaimDueWebhook(x.state.RefOf(event.ObjectSupplier, "acme"), time.Now().UnixNano())
		m, err := x.engine.BuildWebhookMessage(&h)
		if !ok || err != nil || m.Endpoint != (market.Endpoint{}) || len(m.Body) == 0 {
			t.Errorf("%v %v %+v", ok, err, m)
		}
		x.state.UnclaimWebhook(h)
	})
	runInVirtualTime(t, "another supplier's", func(t *testing.T) {
		r := twoPostBuyers()
		r.suppliers = []string{"other"}
		x := newExchange(t, withWebhooks(r))
		x.ingestResult(leadRequest(1, "flo_supplier_id", "other").fromSupplier("other"))
		if required := x.state.SuppliersWithPendingWebhooks(); !slices.Equal(required, []market.PermanentNumber{x.state.RefOf(event.ObjectSupplier, "other")}) {
			t.Errorf("owed is it to %v", required)
		}
	})
}

// requiredWebhooks lists what the log's events owe, as "type lead".
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
		case *event.LeadStatusesChanged:
			for i := range record.Changes {
				add(record.Changes[i].Webhook, record.Changes[i].Lead)
			}
		}
	}
	return all
}
