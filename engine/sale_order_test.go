package engine_test

import (
	"strings"
	"testing"
	"time"

	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// What is wrong with a post, whatever its auction has come to: all of it at once.
func TestPostFaults(t *testing.T) {
	long := strings.Repeat("x", 256)
	tests := []struct {
		name string
		ping []string
		lead []string
		edit func(p *postInput)
		want string // after invalid_payload
	}{
		{"no key", nil, nil, func(p *postInput) { p.key = "" }, "Idempotency-Key:missing_required"},
		{"a key that is none", nil, nil, func(p *postInput) { p.key, p.badKey = "", true }, "Idempotency-Key:invalid_format"},
		{"no auction, no token", nil, nil, func(p *postInput) { p.auction, p.token = "-", "-" }, "auction_id:missing_required bid_token:missing_required"},
		{"blank ones", nil, nil, func(p *postInput) { p.auction, p.token = " ", "" }, "auction_id:missing_required bid_token:missing_required"},
		{"numbers", nil, nil, func(p *postInput) { p.auction, p.token = "#1", "#2" }, "auction_id:wrong_type bid_token:wrong_type"},
		{"null", nil, nil, func(p *postInput) { p.auction = "#null" }, "auction_id:missing_required"},
		{"no id of its own", nil, nil, func(p *postInput) { p.supplierLeadID = "-" }, "lead.lead_uuid:missing_required"},
		{"a number for it", nil, nil, func(p *postInput) { p.supplierLeadID = "#7" }, "lead.lead_uuid:wrong_type"},
		{"a long one", nil, nil, func(p *postInput) { p.supplierLeadID = long }, "lead.lead_uuid:too_long"},
		{"one that cannot be printed", nil, nil, func(p *postInput) { p.supplierLeadID = "a\x00b" }, "lead.lead_uuid:invalid_format"},
		{"one of a broken character", nil, nil, func(p *postInput) { p.supplierLeadID = "a\xffb" }, "lead.lead_uuid:invalid_format"},
		{"what the body had", nil, nil, func(p *postInput) {
			p.faults = []market.FieldError{{Field: "lead.address", Code: errcode.FieldWrongType}}
		}, "lead.address:wrong_type"},
		{
			"nobody", nil,
			[]string{"first_name", "-", "last_name", " ", "phone", "-", "email", "#null"},
			nil,
			"lead.first_name:missing_required lead.last_name:missing_required lead.phone:missing_required lead.email:missing_required",
		},
		{
			"nothing right", nil,
			[]string{"phone", "none", "zip", "9411", "consent_cert_url", "http://a.example", "vehicles", "two"},
			func(p *postInput) { p.supplierLeadID, p.token = "-", "-" },
			"bid_token:missing_required lead.lead_uuid:missing_required lead.phone:invalid_format lead.tcpa.consent_cert_url:invalid_format lead.address.zip:invalid_format lead.vehicles:wrong_type",
		},
		{"another state", nil, []string{"state", "NV"}, nil, "lead.address.state:ping_mismatch"},
		{"another zip", []string{"zip3", "941"}, []string{"zip", "94203"}, nil, "lead.address.zip:ping_mismatch"},
		{"both", []string{"zip3", "941"}, []string{"zip", "89501-1234", "state", "NV"}, nil, "lead.address.state:ping_mismatch lead.address.zip:ping_mismatch"},
		{"a state that is none is no contradiction", nil, []string{"state", "XX"}, nil, "lead.address.state:invalid_format"},
		{"no consent for the ping's source", []string{"source", "paid"}, nil, nil, "lead.tcpa.consent_cert_url:missing_required"},
		{"no consent for its own", nil, []string{"source", "Paid "}, nil, "lead.tcpa.consent_cert_url:missing_required"},
		{"consent that is no address", []string{"source", "paid"}, []string{"consent_cert_url", "yes"}, nil, "lead.tcpa.consent_cert_url:invalid_format"},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := twoBidders()
			r.campaigns[0].consent = []string{"paid"}
			x := newExchange(t, r)
			p := postFor(1, x.pingAuction(supplierPing(1, test.ping...)), test.lead...)
			if test.edit != nil {
				test.edit(&p)
			}
			entries := x.log.len()
			expectEqual(t, x.saleResult(p), "invalid_payload "+test.want)
			expectEqual(t, x.log.len(), entries, "it was logged")
		})
	}
}

// What contradicts nothing.
func TestPostFitsItsPing(t *testing.T) {
	tests := []struct {
		name       string
		ping, lead []string
	}{
		{"the same place", []string{"zip3", "941"}, []string{"state", "CA", "zip", "94110"}},
		{"ZIP+4", []string{"zip3", "941"}, []string{"zip", "94110-0001"}},
		{"a place that only the ping has", []string{"zip3", "941"}, nil},
		{"a zip that only the lead has", nil, []string{"zip", "89501"}},
		{"consent of the ping", []string{"source", "paid", "consent_cert_url", "https://cert.example/1"}, nil},
		{"consent of the lead", []string{"source", "paid"}, []string{"consent_cert_url", "https://cert.example/1"}},
		{"another source", []string{"source", "paid"}, []string{"source", "own"}},
		{"an id of 255 characters", nil, []string{"nickname", strings.Repeat("é", 10)}},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := twoBidders()
			r.campaigns[0].consent = []string{"paid"}
			x := newExchange(t, r)
			p := postFor(1, x.pingAuction(supplierPing(1, test.ping...)), test.lead...)
			p.supplierLeadID = strings.Repeat("é", 255)
			expectEqual(t, x.saleResult(p), "blue theirs 8")
		})
	}
}

// postChecks are what a post has to get over, in their order: each makes it fail
// there, and not before.
var postChecks = []struct {
	name    string
	spoil   func(x *testExchange, p *postInput)
	want    string
	entries int // that it logs
}{
	{"a payload that is none", func(_ *testExchange, p *postInput) { p.supplierLeadID = "-" }, "invalid_payload lead.lead_uuid:missing_required", 0},
	{"a token that is another's", func(_ *testExchange, p *postInput) { p.token = "bid_00000000000000000000000001" }, "invalid_bid_token", 0},
	{"sold already", func(x *testExchange, p *postInput) {
		expectEqual(x.t, x.saleResult(postFor(77, auctionInfo{id: p.auction, token: string(x.loggedToken(p.auction))})), "blue theirs 8", "the sale before")
	}, "already_sold", 0},
	{"its window is over", func(*testExchange, *postInput) { time.Sleep(5 * time.Second) }, "bid_expired", 0},
	{"on a list", func(_ *testExchange, p *postInput) { p.lead = postFor(5, auctionInfo{}).lead }, "post_rejected suppressed", 1},
	{"no money left", func(x *testExchange, _ *postInput) {
		balance, _ := x.state.BuyerBalance(x.state.RefOf(event.ObjectBuyer, "blue"))
		must.Succeed(x.t, x.engine.AsOperator("").TopUpBuyer("blue", 9_000_000-balance, ""))
	}, "bid_expired", 0},
	{"refused", func(x *testExchange, _ *postInput) { x.buyers.scriptPosts("blue", refuses) }, "post_rejected post_rejected", 2},
}

// loggedToken is the token of the seller's auction, by the log.
func (x *testExchange) loggedToken(theirs string) []byte {
	for _, held := range eventsOf[*event.PingAuctionCompleted](x) {
		if held.SellerAuction == theirs {
			return held.Token.AppendTo(nil)
		}
	}
	return nil
}

// Of any two things that stand against a post, the one that comes first in the
// order is told.
func TestPostOrder(t *testing.T) {
	for i, first := range postChecks {
		for k := i; k < len(postChecks); k++ {
			second := postChecks[k]
			runInVirtualTime(t, first.name+", "+second.name, func(t *testing.T) {
				r := twoBidders()
				r.lists = []list{{id: "dnc", field: market.ListPhone, hash: market.HashPlain, entries: []string{phoneOf(5)}}}
				r.campaigns[0].suppress = []string{"dnc"}
				x := newExchange(t, r)
				p := postFor(1, x.pingAuction(supplierPing(1)))
				first.spoil(x, &p)
				if k > i {
					second.spoil(x, &p)
				}
				entries := x.log.len()
				expectEqual(t, x.saleResult(p), first.want)
				expectEqual(t, x.log.len()-entries, first.entries, "entries")
				time.Sleep(time.Minute)
			})
		}
	}
}

// A token is good for its own auction alone, and for its own seller.
func TestForeignTokens(t *testing.T) {
	runWithExchange(t, "", twoBidders(), func(t *testing.T, x *testExchange) {
		mine := x.pingAuction(supplierPing(1))
		next := x.pingAuction(supplierPing(2))
		theirs := x.pingAuction(supplierPing(1).fromSupplier("other"))
		x.buyers.scriptBids("blue", noBid)
		x.buyers.scriptBids("gold", noBid)
		nobody := x.pingAuction(supplierPing(3))
		entries := x.log.len()
		for _, row := range []struct {
			name  string
			a     auctionInfo
			token string
		}{
			{"of another auction", mine, next.token},
			{"of another seller's auction of that id", mine, theirs.token},
			{"of an auction that nobody won", nobody, nobody.token},
			{"of zeros for one that nobody won", nobody, "bid_00000000000000000000000000"},
			{"in another form", mine, strings.ToUpper(mine.token)},
			{"with a space", mine, " " + mine.token},
			{"the buyer's own", mine, x.buyers.bidTokenOf("blue", mine.auctionID.String())},
			{"for an auction that was never held", auctionInfo{id: "a99"}, mine.token},
			{"for our own id of it", auctionInfo{id: mine.auctionID.String()}, mine.token},
		} {
			p := postFor(1, auctionInfo{id: row.a.id, token: row.token})
			expectEqual(t, x.saleResult(p), "invalid_bid_token", row.name)
		}
		p := postFor(1, mine)
		p.supplier = "other"
		expectEqual(t, x.saleResult(p), "invalid_bid_token", "a stranger with the right one")
		if x.log.len() != entries || len(x.buyers.postAttempts()) > 0 {
			t.Error("something was logged or posted")
		}
		expectEqual(t, x.saleResult(postFor(1, mine))+", "+x.saleResult(postFor(2, next)), "blue theirs 8, blue theirs 8", "the right ones")
	})
}

// A bid is good before the end of its window, and no more at it: the buyer's own
// end, or 5 s after the ping.
func TestBidEndsAtTheInstant(t *testing.T) {
	tests := []struct {
		name  string
		blue  bidReply
		after time.Duration
		want  string
	}{
		{"a moment before the ceiling", bids("10"), 5*time.Second - 1, "blue theirs 8"},
		{"at the ceiling", bids("10"), 5 * time.Second, "bid_expired"},
		{"a moment before its own end", bids("10").validFor(3 * time.Second), 3*time.Second - 1, "blue theirs 8"},
		{"at its own end", bids("10").validFor(3 * time.Second), 3 * time.Second, "bid_expired"},
		{"its own end is no later than the ceiling", bids("10").validFor(time.Hour), 5 * time.Second, "bid_expired"},
		{"days later", bids("10"), 29 * 24 * time.Hour, "bid_expired"},
		{"when nobody knows the auction any more", bids("10"), 31 * 24 * time.Hour, "invalid_bid_token"},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, twoBidders(), func(t *testing.T, x *testExchange) {
			x.buyers.scriptBids("blue", test.blue)
			a := x.pingAuction(supplierPing(1))
			time.Sleep(test.after)
			entries := x.log.len()
			expectEqual(t, x.saleResult(postFor(1, a)), test.want)
			if test.want == "bid_expired" && x.log.len() != entries {
				t.Error("it was logged")
			}
		})
	}
}

// The bid is for a lead in a campaign to a buyer; where one of them is not to be
// had any more it is over. What only changes the price does not touch it.
func TestBidOutlivesWhatItCan(t *testing.T) {
	pause := func(door event.ConfigObjectKind, id string) func(*testExchange) {
		return func(x *testExchange) {
			must.Succeed(x.t, x.engine.AsOperator("").SetPaused(door, id, true))
		}
	}
	configure := func(edit func(r *marketSpec)) func(*testExchange) {
		return func(x *testExchange) {
			r := twoBidders()
			edit(&r)
			x.configure(r)
		}
	}
	tests := []struct {
		name string
		then func(x *testExchange)
		want string
	}{
		{"the campaign is paused", pause(event.ObjectCampaign, "auto"), "bid_expired"},
		{"the buyer is paused", pause(event.ObjectBuyer, "blue"), "bid_expired"},
		{"another buyer is paused", pause(event.ObjectBuyer, "gold"), "blue theirs 8"},
		{"the campaign is gone", configure(func(r *marketSpec) { r.campaigns[0].id = "home" }), "bid_expired"},
		{"the seat is gone", configure(func(r *marketSpec) { r.campaigns[0].filterSets = r.campaigns[0].filterSets[1:] }), "bid_expired"},
		{"the seller may not send there", configure(func(r *marketSpec) { r.campaigns[0].suppliers = []string{"other"} }), "bid_expired"},
		{"the seat has another place", configure(func(r *marketSpec) {
			r.campaigns[0].filterSets[0], r.campaigns[0].filterSets[1] = r.campaigns[0].filterSets[1], r.campaigns[0].filterSets[0]
		}), "blue theirs 8"},
		{"the floor is over it", configure(func(r *marketSpec) { r.campaigns[0].floor = "50" }), "blue theirs 8"},
		{"the supplier would get less", configure(func(r *marketSpec) { r.campaigns[0].payout = "0.1" }), "blue theirs 8"},
		{"the payout is over the price", configure(func(r *marketSpec) { r.campaigns[0].payout = "$11" }), "blue theirs 8"},
		{"the buyer has no endpoint any more", configure(func(r *marketSpec) { r.buyers[0].postEndpoint = false }), "blue  8"},
		{"the campaign counts in other money", func(x *testExchange) {
			c := x.configuration(twoBidders())
			c.Document += " in euros"
			c.Catalog.Campaigns["auto"].Currency = market.Currency{'E', 'U', 'R'}
			must.Succeed(x.t, x.engine.Configure(c))
		}, "bid_expired"},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, twoBidders(), func(t *testing.T, x *testExchange) {
			a := x.pingAuction(supplierPing(1))
			test.then(x)
			p := postFor(1, a)
			expectEqual(t, x.saleResult(p), test.want)
			expectEqual(t, x.saleResult(p), test.want, "again")
		})
	}
}

// A buyer that has lost track of a thousand leads gets no more, whatever it bid
// for the next.
func TestBidOfABuyerWithTooManyUnknownLeads(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := twoBidders().withoutRepeats()
		r.buyers[0].funds = ""
		x := newExchange(t, r)
		x.buyers.scriptPosts("blue", serverError)
		var last auctionInfo
		for i := range 1000 {
			a := x.pingAuction(supplierPing(100 + i))
			if i == 999 {
				last = x.pingAuction(supplierPing(1))
			}
			expectEqual(t, x.saleResult(postFor(100+i, a)), "buyer_unavailable", "lead ", i)
		}
		expectEqual(t, x.saleResult(postFor(1, last)), "bid_expired", "the next one")
	})
}
