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

// leadForBuyer returns lead n for a buyer that an availability ping offered.
func leadForBuyer(n int, a auctionInfo, buyer string, pairs ...string) request {
	return leadRequest(n, append([]string{"state", "-", "flo_ping_id", a.id, "flo_buyer_id", buyer}, pairs...)...)
}

// The chosen buyer gets the lead at its own bid, even if another bid is better.
func TestChosenBuyerGetsLeadAtItsBid(t *testing.T) {
	for buyer, want := range map[string]string{"blue": "blue 8", "gold": "gold 4.8"} {
		runWithExchange(t, buyer, twoBidders(), func(t *testing.T, x *testExchange) {
			a := x.availabilityAuction(availabilityRequest("zip3", "941", "vehicles", "#2"))
			answer, err := x.ingest(leadForBuyer(1, a, buyer, "zip", "94110").withKey("k"))
			expectEqual(t, describeIngest(answer, err)+" "+answer.Payout.String(), want)
			body := string(x.buyers.posts[0].body)
			for _, part := range []string{a.auctionID.String(), x.buyers.bidTokenOf(buyer, a.auctionID.String()), `"state":"CA","zip":"94110"`, `"vehicles":2`} {
				if !strings.Contains(body, part) {
					t.Errorf("no %s in %s", part, body)
				}
			}
			x.crashAndRestart()
			again := must.Value(x.ingest(leadForBuyer(1, a, buyer, "zip", "94110").withKey("k")))(t)
			expectReplay(t, answer, again)
			expectEqual(t, x.ingestResult(leadForBuyer(2, a, buyer)), "bid_expired", "a second lead by that ping")
			expectEqual(t, x.ingestResult(leadForBuyer(3, a, "gold"))+" "+x.ingestResult(leadForBuyer(4, a, "blue")), "bid_expired bid_expired", "a second lead by that ping, to the others")
		})
	}
}

func TestInvalidBuyerChoice(t *testing.T) {
	const unknownPing, unknownBuyer = "flo_ping_id:unknown", "flo_buyer_id:unknown"
	tests := []struct {
		name  string
		pairs []string // %s is the ping's id
		want  string
	}{
		{"no buyer", []string{"flo_buyer_id", "-"}, unknownBuyer},
		{"no ping", []string{"flo_ping_id", "-"}, unknownPing},
		{"null for a buyer", []string{"flo_buyer_id", "#null"}, unknownBuyer},
		{"numbers", []string{"flo_ping_id", "#1", "flo_buyer_id", "#1"}, unknownPing},
		{"a number for a buyer", []string{"flo_buyer_id", "#1"}, unknownBuyer},
		{"no identifier", []string{"flo_ping_id", "ping_1"}, unknownPing},
		{"an unknown ping", []string{"flo_ping_id", "ping_00000000000000000000000001"}, unknownPing},
		{"a buyer without a bid", []string{"flo_buyer_id", "red"}, unknownBuyer},
		{"an unknown buyer", []string{"flo_buyer_id", "nobody"}, unknownBuyer},
		{"another campaign's ping", []string{"flo_campaign_id", "home"}, unknownPing},
		{"no campaign", []string{"flo_campaign_id", "none"}, "flo_campaign_id:unknown"},
		{"another state", []string{"state", "NV"}, "state:ping_mismatch"},
		{"another zip", []string{"zip", "89501"}, "zip:ping_mismatch"},
		{"all of it", []string{"state", "NV", "zip", "89501", "phone", "none", "flo_buyer_id", "red"}, unknownBuyer + " phone:invalid_format state:ping_mismatch zip:ping_mismatch"},
		{"no consent for the ping's source", nil, "consent_cert_url:missing_required"},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := threeBidders()
			x := newExchange(t, r)
			x.buyers.scriptBids("red", noBid)
			ping := []string{"zip3", "941"}
			if test.pairs == nil {
				ping = []string{"source", "paid"}
			}
			a := x.availabilityAuction(availabilityRequest(ping...))
			entries := x.log.len()
			expectEqual(t, x.ingestResult(leadForBuyer(1, a, "blue", test.pairs...)), "invalid_payload "+test.want)
			expectEqual(t, x.log.len(), entries, "log entries")
		})
	}
	runWithExchange(t, "auctions of others", threeBidders(), func(t *testing.T, x *testExchange) {
		theirs := x.availabilityAuction(availabilityRequest("flo_supplier_id", "other").fromSupplier("other"))
		sellers := x.pingAuction(supplierPing(1))
		for name, a := range map[string]auctionInfo{
			"another supplier's": theirs, "the auction behind a ping": {id: theirs.auctionID.String()},
			"a seller's by its own id": sellers, "a seller's by ours": {id: market.PingID(sellers.auctionID).String()},
		} {
			expectEqual(t, x.ingestResult(leadForBuyer(1, a, "blue")), "invalid_payload "+unknownPing, name)
		}
		expectEqual(t, x.ingestResult(leadForBuyer(1, theirs, "blue", "flo_supplier_id", "other").fromSupplier("other")), "blue", "its own supplier")
	})
}

// threeBidders returns twoBidders with a third buyer and a second campaign.
func threeBidders() marketSpec {
	r := twoBidders()
	r.buyers = append(r.buyers, buyer{id: "red", pingEndpoint: true})
	r.campaigns[0].filterSets = append(r.campaigns[0].filterSets, filterSet{buyer: "red"})
	r.campaigns[0].consent = []string{"paid"}
	r.campaigns = append(r.campaigns, campaign{id: "home", method: market.PingPost, vertical: "home", filterSets: []filterSet{{buyer: "blue"}}})
	return r
}

// A lead for an unavailable bid, or one that campaign or buyer rejects, is recorded as unmatched.
func TestChoiceOfUnavailableBidIsUnmatched(t *testing.T) {
	tests := []struct {
		name   string
		change func(r *marketSpec)
		then   func(x *testExchange, a auctionInfo)
		lead   []string
		want   string
		free   bool // the auction can sell another lead
	}{
		{"its window is over", nil, func(*testExchange, auctionInfo) { time.Sleep(5 * time.Second) }, nil, "bid_expired", false},
		{"sold", nil, func(x *testExchange, a auctionInfo) { x.ingestResult(leadForBuyer(7, a, "gold")) }, nil, "bid_expired", false},
		{"sold, long ago", nil, func(x *testExchange, a auctionInfo) {
			x.ingestResult(leadForBuyer(7, a, "gold"))
			time.Sleep(time.Hour)
		}, nil, "bid_expired", false},
		{"the buyer is paused", nil, func(x *testExchange, _ auctionInfo) {
			must.Succeed(x.t, x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectBuyer, "blue", true))
		}, nil, "bid_expired", false},
		{"the filter set is removed", nil, func(x *testExchange, _ auctionInfo) {
			r := twoBidders()
			r.campaigns[0].filterSets = r.campaigns[0].filterSets[1:]
			x.configure(r)
		}, nil, "bid_expired", false},
		{"caps full", func(r *marketSpec) { r.buyers[0].caps = []string{"day 1"} }, func(x *testExchange, _ auctionInfo) {
			x.ingestResult(leadForBuyer(7, x.availabilityAuction(availabilityRequest()), "blue"))
		}, nil, "bid_expired", false},
		{"on a list", func(r *marketSpec) { r.campaigns[0].suppress = []string{"dnc"} }, nil, nil, "suppressed", true},
		{"on the buyer's list", func(r *marketSpec) { r.buyers[0].suppress = []string{"dnc"} }, nil, nil, "suppressed", true},
		{"a duplicate", nil, func(x *testExchange, _ auctionInfo) {
			x.ingestResult(leadForBuyer(1, x.availabilityAuction(availabilityRequest()), "gold"))
		}, nil, "duplicate", true},
		{"filtered", func(r *marketSpec) {
			r.campaigns[0].filters = []market.FilterSpec{{Field: "vehicles", In: []string{"2"}}}
		}, nil, []string{"vehicles", "#1"}, "filtered", true},
		{"refused", nil, func(x *testExchange, _ auctionInfo) { x.buyers.scriptPosts("blue", refuses) }, nil, "post_rejected", true},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := twoBidders()
			r.lists = []list{{id: "dnc", field: market.ListPhone, hash: market.HashPlain, entries: []string{phoneOf(1)}}}
			if test.change != nil {
				test.change(&r)
			}
			x := newExchange(t, r)
			a := x.availabilityAuction(availabilityRequest("vehicles", "#2"))
			if test.then != nil {
				test.then(x, a)
			}
			entries := x.log.len()
			request := leadForBuyer(1, a, "blue", test.lead...).withKey("k")
			first, err := x.ingest(request)
			if got := describeIngest(first, err); got != test.want || first.Lead.IsZero() || x.log.len() == entries {
				t.Fatalf("%s, want %s; %d entries", got, test.want, x.log.len()-entries)
			}
			again := must.Value(x.ingest(request))(t)
			expectReplay(t, first, again)
			x.buyers.scriptPosts("blue", accepts)
			if test.free {
				expectEqual(t, x.ingestResult(leadForBuyer(2, a, "blue")), "blue", "another lead by that ping")
			}
		})
	}
}

// The delivery of a lead for a chosen buyer differs in two points: no other buyer gets the lead,
// and a post that was not sent is repeated.
func TestDeliveryToChosenBuyer(t *testing.T) {
	tests := []struct {
		name      string
		blue      []postReply
		want      string
		attempts  string
		leadState string
	}{
		{"accepted", []postReply{accepts.after(ms)}, "blue@1ms", "blue@0s", "ACCEPTED delivered"},
		{"refused", []postReply{refuses.after(ms)}, "post_rejected@1ms", "blue@0s", "UNMATCHED failed post_rejected"},
		{"unreached once", []postReply{unreachable, accepts}, "blue@1s", "blue@0s blue@1s", "ACCEPTED delivered"},
		{"unreached to the deadline", []postReply{unreachable}, "post_rejected@3s", "blue@0s blue@1s blue@3s", "UNMATCHED failed post_rejected"},
		{"unreached, then in doubt", []postReply{unreachable, serverError, serverError, accepts}, "blue@3s", "blue@0s blue@1s blue@3s blue@7s", "ACCEPTED delivered"},
		{"broken for good", []postReply{serverError}, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED unknown"},
		{"hangs, then accepts", []postReply{accepts.after(7 * time.Second)}, "blue@5s", "blue@0s", "ACCEPTED delivered"},
		{"hangs, then refuses", []postReply{refuses.after(7 * time.Second)}, "blue@5s", "blue@0s", "UNMATCHED failed post_rejected"},
		{"unreached after the answer", []postReply{unreachable.after(7 * time.Second), accepts}, "blue@5s", "blue@0s blue@8s", "ACCEPTED delivered"},
		{"busy for too long", []postReply{busy(9 * time.Second)}, "post_rejected@0s", "blue@0s", "UNMATCHED failed post_rejected"},
	}
	for _, test := range tests {
		for _, crash := range []bool{false, true} {
			runWithExchange(t, fmt.Sprintf("%s/crash=%v", test.name, crash), twoBidders(), func(t *testing.T, x *testExchange) {
				x.buyers.scriptPosts("blue", test.blue...)
				a := x.availabilityAuction(availabilityRequest())
				request := leadForBuyer(1, a, "blue").withKey("k")
				s := x.startIngest(request)
				expectEqual(t, fmt.Sprintf("%s@%s", s.wait(), s.took), test.want, "answer")
				if crash {
					x.crashAndRestart()
				}
				time.Sleep(5 * time.Minute)
				if got := strings.Join(x.buyers.postAttempts(), " "); got != test.attempts && !crash {
					t.Errorf("attempts %s, want %s", got, test.attempts)
				}
				if got := x.leadState(s.answer); got != test.leadState && !crash {
					t.Errorf("lead state %s, want %s", got, test.leadState)
				}
				again := must.Value(x.ingest(request))(t)
				expectReplay(t, s.answer, again)
			})
		}
	}
}

func TestConcurrentChoicesSellOneLead(t *testing.T) {
	runWithExchange(t, "", twoBidders(), func(t *testing.T, x *testExchange) {
		a := x.availabilityAuction(availabilityRequest())
		x.buyers.scriptPosts("blue", accepts.after(time.Second))
		x.buyers.scriptPosts("gold", accepts.after(time.Second))
		var all []*ingestCall
		for i := range 6 {
			all = append(all, x.startIngest(leadForBuyer(i, a, []string{"blue", "gold"}[i%2])))
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
		if sold != 1 || len(x.buyers.postAttempts()) != 1 {
			t.Errorf("%d leads sold, posts %v", sold, x.buyers.postAttempts())
		}
	})
	runWithExchange(t, "and the first is refused", twoBidders(), func(t *testing.T, x *testExchange) {
		a := x.availabilityAuction(availabilityRequest())
		x.buyers.scriptPosts("blue", refuses.after(time.Second))
		first := x.startIngest(leadForBuyer(1, a, "blue"))
		synctest.Wait()
		expectEqual(t, x.ingestResult(leadForBuyer(2, a, "gold"))+", "+first.wait(), "gold, post_rejected")
	})
}

func TestChoiceAfterRestart(t *testing.T) {
	runWithExchange(t, "", twoBidders(), func(t *testing.T, x *testExchange) {
		a := x.availabilityAuction(availabilityRequest("zip3", "941"))
		x.crashAndRestart()
		for _, row := range []struct {
			request request
			want    string
		}{
			{leadForBuyer(1, a, "red"), "invalid_payload flo_buyer_id:unknown"},
			{leadForBuyer(1, a, "gold", "zip", "89501"), "invalid_payload zip:ping_mismatch"},
			{leadForBuyer(1, a, "gold"), "gold"},
			{leadForBuyer(2, a, "gold"), "bid_expired"},
		} {
			expectEqual(t, describeIngest(x.ingest(row.request)), row.want)
		}
	})
}
