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

// hears sends what the supplier is owed of a lead, which follows from what it was told
// and from where the lead stands in the end.
func (x *exchange) hears(told string, a engine.IngestAnswer) *receivers {
	x.t.Helper()
	want := "lead.posted"
	switch stands := x.stands(a); {
	case strings.HasSuffix(stands, "unknown"):
		want = ""
	case strings.HasPrefix(stands, "UNMATCHED") && strings.HasPrefix(told, "post_rejected"):
		want = "lead.unmatched"
	case strings.HasPrefix(stands, "UNMATCHED"):
		want = "lead.post_failed"
	}
	r := mail(x.t)
	r.send(x)
	expectEqual(x.t, strings.Join(r.list(), " "), want, "told ", told, ", the supplier hears")
	return r
}

// Leads that are decided at once.
func TestEventsOfADecision(t *testing.T) {
	recorded := rig{buyers: []buyer{{id: "blue", caps: []string{"total 1"}}}, campaigns: []campaign{{
		method: market.Waterfall, duplicates: anyOf, seats: []seat{{buyer: "blue", states: "CA"}},
	}}}
	recordedNext := rig{buyers: []buyer{{id: "blue", posts: true}, {id: "gold"}}, campaigns: []campaign{{
		method: market.Waterfall, seats: []seat{{buyer: "blue"}, {buyer: "gold"}},
	}}}
	tests := []struct {
		what    string
		rig     rig
		replies []reply
		leads   []request
		told    string
		want    string
	}{
		{"recorded", recorded, nil, []request{person(1)}, "blue", "lead.posted"},
		{"recorded, then full", recorded, nil, []request{person(1), person(2)}, "blue caps_full", "lead.posted lead.unmatched"},
		{"no buyer there", recorded, nil, []request{person(1, "state", "NY")}, "no_state_match", "lead.unmatched"},
		{"the same again", recorded, nil, []request{person(1), person(1)}, "blue duplicate", "lead.posted lead.unmatched"},
		{"one answer twice", recorded, nil, []request{person(1).withKey("k"), person(1).withKey("k")}, "blue blue", "lead.posted"},
		{"refused, then recorded", recordedNext, []reply{refuses}, []request{person(1)}, "gold", "lead.posted"},
		{"no lead at all", recorded, nil, []request{person(1, "phone", "1")}, "invalid_payload phone:invalid_format", ""},
	}
	for _, test := range tests {
		trading(t, test.what, hooked(test.rig), func(t *testing.T, x *exchange) {
			x.world.script("blue", test.replies...)
			var told []string
			for _, lead := range test.leads {
				told = append(told, x.tell(lead))
			}
			r := mail(t)
			r.sendFor(x, time.Minute)
			expectEqual(t, strings.Join(told, " "), test.told, "told")
			expectEqual(t, strings.Join(r.list(), " "), test.want, "hears")
		})
	}
}

// What a supplier is owed is decided with the fact, by the configuration in force
// then.
func TestEventsAreOwedByTheConfigurationInForce(t *testing.T) {
	trading(t, "no webhook", two(), func(t *testing.T, x *exchange) {
		x.tell(person(1))
		if owed := x.owed(); len(owed) > 0 {
			t.Errorf("who has no webhook is owed %v", owed)
		}
	})
	trading(t, "configured while the lead is on its way", two(), func(t *testing.T, x *exchange) {
		x.world.script("blue", accepts.in(7*time.Second))
		x.tell(person(1))
		x.configure(hooked(two()))
		r := mail(t)
		r.sendFor(x, time.Minute)
		if got := r.list(); !slices.Equal(got, []string{"lead.posted"}) {
			t.Errorf("hears %v", got)
		}
	})
	trading(t, "taken away while the lead is on its way", hooked(two()), func(t *testing.T, x *exchange) {
		x.world.script("blue", accepts.in(7*time.Second))
		x.tell(person(1))
		x.configure(two())
		time.Sleep(time.Minute)
		if owed := x.owed(); len(owed) > 0 {
			t.Errorf("owed %v", owed)
		}
	})
	trading(t, "taken away while the event waits", hooked(two()), func(t *testing.T, x *exchange) {
		x.tell(person(1))
		x.configure(two())
		h, ok := x.state.ClaimDueWebhook(x.state.RefOf(event.ObjectSupplier, "acme"), time.Now().UnixNano())
		m, err := x.engine.BuildWebhookMessage(&h)
		if !ok || err != nil || m.Endpoint != (market.Endpoint{}) || len(m.Body) == 0 {
			t.Errorf("%v %v %+v", ok, err, m)
		}
		x.state.UnclaimWebhook(h)
	})
	bubble(t, "another supplier's", func(t *testing.T) {
		r := two()
		r.suppliers = []string{"other"}
		x := begin(t, hooked(r))
		x.tell(person(1, "flo_supplier_id", "other").by("other"))
		if owed := x.state.SuppliersWithPendingWebhooks(); !slices.Equal(owed, []market.PermanentNumber{x.state.RefOf(event.ObjectSupplier, "other")}) {
			t.Errorf("owed is it to %v", owed)
		}
	})
}

// owed lists what the log's facts owe, as "type lead".
func (x *exchange) owed() (all []string) {
	x.t.Helper()
	add := func(what market.WebhookType, lead market.LeadID) {
		if what != market.WebhookNone {
			all = append(all, what.String()+" "+lead.String())
		}
	}
	for _, fact := range recordsOf[event.Event](x) {
		switch fact := fact.(type) {
		case *event.LeadDecided:
			add(fact.Webhook, fact.Lead)
		case *event.PostSettled:
			add(fact.Webhook, fact.Lead)
		case *event.LeadStatusesChanged:
			for i := range fact.Changes {
				add(fact.Changes[i].Webhook, fact.Changes[i].Lead)
			}
		}
	}
	return all
}
