package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// chosen is person n for a buyer that a ping offered.
func chosen(n int, a told, buyer string, pairs ...string) request {
	return person(n, append([]string{"state", "-", "flo_ping_id", a.id, "flo_buyer_id", buyer}, pairs...)...)
}

// The buyer that the supplier chose gets the lead at its own bid, be it the best
// one or not.
func TestChoice(t *testing.T) {
	for buyer, want := range map[string]string{"blue": "blue 8", "gold": "gold 4.8"} {
		trading(t, buyer, bidders(), func(t *testing.T, x *exchange) {
			a := x.offered(availability("zip3", "941", "vehicles", "#2"))
			answer, err := x.send(chosen(1, a, buyer, "zip", "94110").withKey("k"))
			expectEqual(t, said(answer, err)+" "+answer.Payout.String(), want)
			body := string(x.world.posts[0].body)
			for _, part := range []string{a.ours.String(), x.world.tokenOf(buyer, a.ours.String()), `"state":"CA","zip":"94110"`, `"vehicles":2`} {
				if !strings.Contains(body, part) {
					t.Errorf("no %s in %s", part, body)
				}
			}
			x.crash()
			again := must.Value(x.send(chosen(1, a, buyer, "zip", "94110").withKey("k")))(t)
			same(t, answer, again)
			expectEqual(t, x.tell(chosen(2, a, buyer)), "bid_expired", "a second lead by that ping")
			expectEqual(t, x.tell(chosen(3, a, "gold"))+" "+x.tell(chosen(4, a, "blue")), "bid_expired bid_expired", "a second lead by that ping, to the others")
		})
	}
}

// A choice that is none is a fault of the member that makes it.
func TestChoiceFaults(t *testing.T) {
	const unknownPing, unknownBuyer = "flo_ping_id:unknown", "flo_buyer_id:unknown"
	tests := []struct {
		what  string
		pairs []string // %s is the ping's id
		want  string
	}{
		{"no buyer", []string{"flo_buyer_id", "-"}, unknownBuyer},
		{"no ping", []string{"flo_ping_id", "-"}, unknownPing},
		{"null for a buyer", []string{"flo_buyer_id", "#null"}, unknownBuyer},
		{"numbers", []string{"flo_ping_id", "#1", "flo_buyer_id", "#1"}, unknownPing},
		{"a number for a buyer", []string{"flo_buyer_id", "#1"}, unknownBuyer},
		{"no identifier", []string{"flo_ping_id", "ping_1"}, unknownPing},
		{"one of nothing", []string{"flo_ping_id", "ping_00000000000000000000000001"}, unknownPing},
		{"a buyer who passed", []string{"flo_buyer_id", "red"}, unknownBuyer},
		{"a buyer who is none", []string{"flo_buyer_id", "nobody"}, unknownBuyer},
		{"another campaign's ping", []string{"flo_campaign_id", "home"}, unknownPing},
		{"no campaign", []string{"flo_campaign_id", "none"}, "flo_campaign_id:unknown"},
		{"another state", []string{"state", "NV"}, "state:ping_mismatch"},
		{"another zip", []string{"zip", "89501"}, "zip:ping_mismatch"},
		{"all of it", []string{"state", "NV", "zip", "89501", "phone", "none", "flo_buyer_id", "red"}, unknownBuyer + " phone:invalid_format state:ping_mismatch zip:ping_mismatch"},
		{"no consent for the ping's source", nil, "consent_cert_url:missing_required"},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			r := choosers()
			x := begin(t, r)
			x.world.offers("red", passes)
			ping := []string{"zip3", "941"}
			if test.pairs == nil {
				ping = []string{"source", "paid"}
			}
			a := x.offered(availability(ping...))
			entries := x.log.len()
			expectEqual(t, x.tell(chosen(1, a, "blue", test.pairs...)), "invalid_payload "+test.want)
			expectEqual(t, x.log.len(), entries, "it was logged")
		})
	}
	trading(t, "what others asked", choosers(), func(t *testing.T, x *exchange) {
		theirs := x.offered(availability("flo_supplier_id", "other").by("other"))
		sellers := x.quoted(inquiry(1))
		for what, a := range map[string]told{
			"another supplier's": theirs, "the auction behind a ping": {id: theirs.ours.String()},
			"a seller's by its own id": sellers, "a seller's by ours": {id: market.PingID(sellers.ours).String()},
		} {
			expectEqual(t, x.tell(chosen(1, a, "blue")), "invalid_payload "+unknownPing, what)
		}
		expectEqual(t, x.tell(chosen(1, theirs, "blue", "flo_supplier_id", "other").by("other")), "blue", "its own supplier")
	})
}

// choosers is a market with a third buyer and a second campaign.
func choosers() rig {
	r := bidders()
	r.buyers = append(r.buyers, buyer{id: "red", pings: true})
	r.campaigns[0].seats = append(r.campaigns[0].seats, seat{buyer: "red"})
	r.campaigns[0].consent = []string{"paid"}
	r.campaigns = append(r.campaigns, campaign{id: "home", method: market.PingPost, vertical: "home", seats: []seat{{buyer: "blue"}}})
	return r
}

// A lead for which the bid is not to be had, or that nobody wants, is recorded as
// unmatched, under its key.
func TestChoiceThatComesToNothing(t *testing.T) {
	tests := []struct {
		what string
		rig  func(r *rig)
		then func(x *exchange, a told)
		lead []string
		want string
		free bool // the ping can still sell
	}{
		{"its window is over", nil, func(*exchange, told) { time.Sleep(5 * time.Second) }, nil, "bid_expired", false},
		{"sold", nil, func(x *exchange, a told) { x.tell(chosen(7, a, "gold")) }, nil, "bid_expired", false},
		{"sold, long ago", nil, func(x *exchange, a told) { x.tell(chosen(7, a, "gold")); time.Sleep(time.Hour) }, nil, "bid_expired", false},
		{"the buyer is paused", nil, func(x *exchange, _ told) {
			must.Succeed(x.t, x.engine.AsOperator("").SetPaused(event.ObjectBuyer, "blue", true))
		}, nil, "bid_expired", false},
		{"the seat is gone", nil, func(x *exchange, _ told) {
			r := bidders()
			r.campaigns[0].seats = r.campaigns[0].seats[1:]
			x.configure(r)
		}, nil, "bid_expired", false},
		{"no room", func(r *rig) { r.buyers[0].caps = []string{"day 1"} }, func(x *exchange, _ told) {
			x.tell(chosen(7, x.offered(availability()), "blue"))
		}, nil, "bid_expired", false},
		{"on a list", func(r *rig) { r.campaigns[0].suppress = []string{"dnc"} }, nil, nil, "suppressed", true},
		{"on the buyer's list", func(r *rig) { r.buyers[0].refuses = []string{"dnc"} }, nil, nil, "suppressed", true},
		{"a duplicate", nil, func(x *exchange, _ told) { x.tell(chosen(1, x.offered(availability()), "gold")) }, nil, "duplicate", true},
		{"filtered", func(r *rig) {
			r.campaigns[0].filters = []market.FilterSpec{{Field: "vehicles", In: []string{"2"}}}
		}, nil, []string{"vehicles", "#1"}, "filtered", true},
		{"refused", nil, func(x *exchange, _ told) { x.world.script("blue", refuses) }, nil, "post_rejected", true},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			r := bidders()
			r.lists = []list{{id: "dnc", field: market.ListPhone, hash: market.HashPlain, entries: []string{phoneOf(1)}}}
			if test.rig != nil {
				test.rig(&r)
			}
			x := begin(t, r)
			a := x.offered(availability("vehicles", "#2"))
			if test.then != nil {
				test.then(x, a)
			}
			entries := x.log.len()
			request := chosen(1, a, "blue", test.lead...).withKey("k")
			first, err := x.send(request)
			if got := said(first, err); got != test.want || first.Lead.IsZero() || x.log.len() == entries {
				t.Fatalf("%s, want %s; %d entries", got, test.want, x.log.len()-entries)
			}
			again := must.Value(x.send(request))(t)
			same(t, first, again)
			x.world.script("blue", accepts)
			if test.free {
				expectEqual(t, x.tell(chosen(2, a, "blue")), "blue", "another lead by that ping")
			}
		})
	}
}

// On its way to the buyer a chosen lead is as any other, but for two things:
// nobody else gets it, and a buyer that was not reached is tried again.
func TestChoiceDelivery(t *testing.T) {
	tests := []struct {
		what   string
		blue   []reply
		want   string
		tried  string
		stands string
	}{
		{"taken", []reply{accepts.in(ms)}, "blue@1ms", "blue@0s", "ACCEPTED delivered"},
		{"refused", []reply{refuses.in(ms)}, "post_rejected@1ms", "blue@0s", "UNMATCHED failed post_rejected"},
		{"unreached once", []reply{unreached, accepts}, "blue@1s", "blue@0s blue@1s", "ACCEPTED delivered"},
		{"unreached to the ceiling", []reply{unreached}, "post_rejected@3s", "blue@0s blue@1s blue@3s", "UNMATCHED failed post_rejected"},
		{"unreached, then in doubt", []reply{unreached, breaks, breaks, accepts}, "blue@3s", "blue@0s blue@1s blue@3s blue@7s", "ACCEPTED delivered"},
		{"broken for good", []reply{breaks}, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED unknown"},
		{"hangs, then takes it", []reply{accepts.in(7 * time.Second)}, "blue@5s", "blue@0s", "ACCEPTED delivered"},
		{"hangs, then refuses", []reply{refuses.in(7 * time.Second)}, "blue@5s", "blue@0s", "UNMATCHED failed post_rejected"},
		{"unreached after the answer", []reply{unreached.in(7 * time.Second), accepts}, "blue@5s", "blue@0s blue@8s", "ACCEPTED delivered"},
		{"busy for too long", []reply{busy(9 * time.Second)}, "post_rejected@0s", "blue@0s", "UNMATCHED failed post_rejected"},
	}
	for _, test := range tests {
		for _, crash := range []bool{false, true} {
			trading(t, fmt.Sprintf("%s/crash=%v", test.what, crash), bidders(), func(t *testing.T, x *exchange) {
				x.world.script("blue", test.blue...)
				a := x.offered(availability())
				request := chosen(1, a, "blue").withKey("k")
				s := x.goSend(request)
				expectEqual(t, fmt.Sprintf("%s@%s", s.wait(), s.took), test.want, "the supplier hears")
				if crash {
					x.crash()
				}
				time.Sleep(5 * time.Minute)
				if got := strings.Join(x.world.tried(), " "); got != test.tried && !crash {
					t.Errorf("tried %s, want %s", got, test.tried)
				}
				if got := x.stands(s.answer); got != test.stands && !crash {
					t.Errorf("stands %s, want %s", got, test.stands)
				}
				again := must.Value(x.send(request))(t)
				same(t, s.answer, again)
			})
		}
	}
}

// A ping sells one lead, whoever asks for it at the same instant.
func TestChoicesAtTheSameInstant(t *testing.T) {
	trading(t, "", bidders(), func(t *testing.T, x *exchange) {
		a := x.offered(availability())
		x.world.script("blue", accepts.in(time.Second))
		x.world.script("gold", accepts.in(time.Second))
		var all []*sent
		for i := range 6 {
			all = append(all, x.goSend(chosen(i, a, []string{"blue", "gold"}[i%2])))
		}
		sold := 0
		for _, s := range all {
			switch s.wait() {
			case "blue", "gold":
				sold++
			case "bid_expired":
			default:
				t.Error(s.wait())
			}
		}
		if sold != 1 || len(x.world.tried()) != 1 {
			t.Errorf("%d are sold, posts %v", sold, x.world.tried())
		}
	})
	trading(t, "and the first is refused", bidders(), func(t *testing.T, x *exchange) {
		a := x.offered(availability())
		x.world.script("blue", refuses.in(time.Second))
		first := x.goSend(chosen(1, a, "blue"))
		synctest.Wait()
		expectEqual(t, x.tell(chosen(2, a, "gold"))+", "+first.wait(), "gold, post_rejected")
	})
}

// The auction of an availability ping is known after a restart as before it.
func TestChoiceAfterARestart(t *testing.T) {
	trading(t, "", bidders(), func(t *testing.T, x *exchange) {
		a := x.offered(availability("zip3", "941"))
		x.crash()
		for _, row := range []struct {
			request request
			want    string
		}{
			{chosen(1, a, "red"), "invalid_payload flo_buyer_id:unknown"},
			{chosen(1, a, "gold", "zip", "89501"), "invalid_payload zip:ping_mismatch"},
			{chosen(1, a, "gold"), "gold"},
			{chosen(2, a, "gold"), "bid_expired"},
		} {
			expectEqual(t, said(x.send(row.request)), row.want)
		}
	})
}
