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

// The error lists all invalid fields, at any state of the auction.
func TestPostValidation(t *testing.T) {
	long := strings.Repeat("x", 256)
	tests := []struct {
		name string
		ping []string
		lead []string
		edit func(p *postInput)
		want string // after invalid_payload
	}{
		{"no key", nil, nil, func(p *postInput) { p.key = "" }, "Idempotency-Key:missing_required"},
		{"malformed key", nil, nil, func(p *postInput) { p.key, p.badKey = "", true }, "Idempotency-Key:invalid_format"},
		{"no auction and no token", nil, nil, func(p *postInput) { p.auction, p.token = "-", "-" }, "auction_id:missing_required bid_token:missing_required"},
		{"blank auction and token", nil, nil, func(p *postInput) { p.auction, p.token = " ", "" }, "auction_id:missing_required bid_token:missing_required"},
		{"numbers for auction and token", nil, nil, func(p *postInput) { p.auction, p.token = "#1", "#2" }, "auction_id:wrong_type bid_token:wrong_type"},
		{"null auction", nil, nil, func(p *postInput) { p.auction = "#null" }, "auction_id:missing_required"},
		{"no lead id", nil, nil, func(p *postInput) { p.supplierLeadID = "-" }, "lead.lead_uuid:missing_required"},
		{"number for the lead id", nil, nil, func(p *postInput) { p.supplierLeadID = "#7" }, "lead.lead_uuid:wrong_type"},
		{"lead id too long", nil, nil, func(p *postInput) { p.supplierLeadID = long }, "lead.lead_uuid:too_long"},
		{"unprintable lead id", nil, nil, func(p *postInput) { p.supplierLeadID = "a\x00b" }, "lead.lead_uuid:invalid_format"},
		{"lead id with invalid UTF-8", nil, nil, func(p *postInput) { p.supplierLeadID = "a\xffb" }, "lead.lead_uuid:invalid_format"},
		{"fault found by the parser", nil, nil, func(p *postInput) {
			p.faults = []market.FieldError{{Field: "lead.address", Code: errcode.FieldWrongType}}
		}, "lead.address:wrong_type"},
		{
			"no contact data", nil,
			[]string{"first_name", "-", "last_name", " ", "phone", "-", "email", "#null"},
			nil,
			"lead.first_name:missing_required lead.last_name:missing_required lead.phone:missing_required lead.email:missing_required",
		},
		{
			"several invalid fields", nil,
			[]string{"phone", "none", "zip", "9411", "consent_cert_url", "http://a.example", "vehicles", "two"},
			func(p *postInput) { p.supplierLeadID, p.token = "-", "-" },
			"bid_token:missing_required lead.lead_uuid:missing_required lead.phone:invalid_format lead.tcpa.consent_cert_url:invalid_format lead.address.zip:invalid_format lead.vehicles:wrong_type",
		},
		{"another state", nil, []string{"state", "NV"}, nil, "lead.address.state:ping_mismatch"},
		{"another zip", []string{"zip3", "941"}, []string{"zip", "94203"}, nil, "lead.address.zip:ping_mismatch"},
		{"another state and zip", []string{"zip3", "941"}, []string{"zip", "89501-1234", "state", "NV"}, nil, "lead.address.state:ping_mismatch lead.address.zip:ping_mismatch"},
		{"invalid state is no mismatch", nil, []string{"state", "XX"}, nil, "lead.address.state:invalid_format"},
		{"no consent for the ping's source", []string{"source", "paid"}, nil, nil, "lead.tcpa.consent_cert_url:missing_required"},
		{"no consent for the lead's source", nil, []string{"source", "Paid "}, nil, "lead.tcpa.consent_cert_url:missing_required"},
		{"consent that is no URL", []string{"source", "paid"}, []string{"consent_cert_url", "yes"}, nil, "lead.tcpa.consent_cert_url:invalid_format"},
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
			expectEqual(t, x.log.len(), entries, "log entries")
		})
	}
}

func TestPostThatMatchesItsPingIsAccepted(t *testing.T) {
	tests := []struct {
		name       string
		ping, lead []string
	}{
		{"same state and zip", []string{"zip3", "941"}, []string{"state", "CA", "zip", "94110"}},
		{"ZIP+4", []string{"zip3", "941"}, []string{"zip", "94110-0001"}},
		{"zip only in the ping", []string{"zip3", "941"}, nil},
		{"zip only in the lead", nil, []string{"zip", "89501"}},
		{"consent in the ping", []string{"source", "paid", "consent_cert_url", "https://cert.example/1"}, nil},
		{"consent in the lead", []string{"source", "paid"}, []string{"consent_cert_url", "https://cert.example/1"}},
		{"another source", []string{"source", "paid"}, []string{"source", "own"}},
		{"unknown field", nil, []string{"nickname", strings.Repeat("é", 10)}},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := twoBidders()
			r.campaigns[0].consent = []string{"paid"}
			x := newExchange(t, r)
			p := postFor(1, x.pingAuction(supplierPing(1, test.ping...)), test.lead...)
			p.supplierLeadID = strings.Repeat("é", 254) + "\ufffd" // a valid character, not invalid UTF-8
			expectEqual(t, x.saleResult(p), "blue theirs 8")
		})
	}
}

// postChecks are the checks of a post, in their order. spoil makes the post fail that
// check and pass those before it.
var postChecks = []struct {
	name    string
	spoil   func(x *testExchange, p *postInput)
	want    string
	entries int // log entries of the failed post
}{
	{"invalid payload", func(_ *testExchange, p *postInput) { p.supplierLeadID = "-" }, "invalid_payload lead.lead_uuid:missing_required", 0},
	{"foreign token", func(_ *testExchange, p *postInput) { p.token = "bid_00000000000000000000000001" }, "invalid_bid_token", 0},
	{"already sold", func(x *testExchange, p *postInput) {
		expectEqual(x.t, x.saleResult(postFor(77, auctionInfo{id: p.auction, token: string(x.loggedToken(p.auction))})), "blue theirs 8", "the earlier sale")
	}, "already_sold", 0},
	{"bid expired", func(*testExchange, *postInput) { time.Sleep(5 * time.Second) }, "bid_expired", 0},
	{"suppressed", func(_ *testExchange, p *postInput) { p.lead = postFor(5, auctionInfo{}).lead }, "post_rejected suppressed", 1},
	{"insufficient funds", func(x *testExchange, _ *postInput) {
		balance, _ := x.state.BuyerBalance(x.state.RefOf(event.ObjectBuyer, "blue"))
		must.Succeed(x.t, x.engine.AsOperator("").AdjustBuyerFunds("blue", 9_000_000-balance, ""))
	}, "bid_expired", 0},
	{"refused", func(x *testExchange, _ *postInput) { x.buyers.scriptPosts("blue", refuses) }, "post_rejected post_rejected", 2},
}

// loggedToken returns the bid token of the supplier's auction, from the log.
func (x *testExchange) loggedToken(auctionID string) []byte {
	for _, held := range eventsOf[*event.PingAuctionCompleted](x) {
		if held.SellerAuction == auctionID {
			return held.Token.AppendAsText(nil)
		}
	}
	return nil
}

// A post that fails two checks gets the error of the first.
func TestPostCheckOrder(t *testing.T) {
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
				expectEqual(t, x.log.len()-entries, first.entries, "log entries")
				time.Sleep(time.Minute)
			})
		}
	}
}

// A token is valid only for its own auction and supplier.
func TestForeignBidTokensAreRejected(t *testing.T) {
	runWithExchange(t, "", twoBidders(), func(t *testing.T, x *testExchange) {
		first := x.pingAuction(supplierPing(1))
		second := x.pingAuction(supplierPing(2))
		foreign := x.pingAuction(supplierPing(1).fromSupplier("other"))
		x.buyers.scriptBids("blue", noBid)
		x.buyers.scriptBids("gold", noBid)
		unsold := x.pingAuction(supplierPing(3))
		entries := x.log.len()
		for _, row := range []struct {
			name  string
			a     auctionInfo
			token string
		}{
			{"of another auction", first, second.token},
			{"of another supplier's auction with that id", first, foreign.token},
			{"of an auction without a winner", unsold, unsold.token},
			{"of zeros for an auction without a winner", unsold, "bid_00000000000000000000000000"},
			{"in capitals", first, strings.ToUpper(first.token)},
			{"with a space", first, " " + first.token},
			{"the buyer's own token", first, x.buyers.bidTokenOf("blue", first.auctionID.String())},
			{"for an auction that was never held", auctionInfo{id: "a99"}, first.token},
			{"for the exchange's auction id", auctionInfo{id: first.auctionID.String()}, first.token},
		} {
			p := postFor(1, auctionInfo{id: row.a.id, token: row.token})
			expectEqual(t, x.saleResult(p), "invalid_bid_token", row.name)
		}
		p := postFor(1, first)
		p.supplier = "other"
		expectEqual(t, x.saleResult(p), "invalid_bid_token", "another supplier with the right token")
		if x.log.len() != entries || len(x.buyers.postAttempts()) > 0 {
			t.Error("a rejected post was logged or sent")
		}
		expectEqual(t, x.saleResult(postFor(1, first))+", "+x.saleResult(postFor(2, second)), "blue theirs 8, blue theirs 8", "the right tokens")
	})
}

// A bid is valid until, but not at, its end: the buyer's end, or 5 s after the ping.
func TestBidExpiry(t *testing.T) {
	tests := []struct {
		name  string
		blue  bidReply
		after time.Duration
		want  string
	}{
		{"just before the ceiling", bids("10"), 5*time.Second - 1, "blue theirs 8"},
		{"at the ceiling", bids("10"), 5 * time.Second, "bid_expired"},
		{"just before the buyer's end", bids("10").validFor(3 * time.Second), 3*time.Second - 1, "blue theirs 8"},
		{"at the buyer's end", bids("10").validFor(3 * time.Second), 3 * time.Second, "bid_expired"},
		{"buyer's end after the ceiling", bids("10").validFor(time.Hour), 5 * time.Second, "bid_expired"},
		{"days later", bids("10"), 29 * 24 * time.Hour, "bid_expired"},
		{"after the auction was forgotten", bids("10"), 31 * 24 * time.Hour, "invalid_bid_token"},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, twoBidders(), func(t *testing.T, x *testExchange) {
			x.buyers.scriptBids("blue", test.blue)
			a := x.pingAuction(supplierPing(1))
			time.Sleep(test.after)
			entries := x.log.len()
			expectEqual(t, x.saleResult(postFor(1, a)), test.want)
			if test.want == "bid_expired" && x.log.len() != entries {
				t.Error("an expired bid was logged")
			}
		})
	}
}

// A bid expires if its campaign or buyer is paused or removed. Price changes do not
// affect it.
func TestBidAfterConfigurationChange(t *testing.T) {
	pause := func(kind event.ConfigObjectKind, id string) func(*testExchange) {
		return func(x *testExchange) {
			must.Succeed(x.t, x.engine.AsOperator("").SetCampaignOrBuyerPaused(kind, id, true))
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
		name   string
		change func(x *testExchange)
		want   string
	}{
		{"the campaign is paused", pause(event.ObjectCampaign, "auto"), "bid_expired"},
		{"the buyer is paused", pause(event.ObjectBuyer, "blue"), "bid_expired"},
		{"another buyer is paused", pause(event.ObjectBuyer, "gold"), "blue theirs 8"},
		{"the campaign is removed", configure(func(r *marketSpec) { r.campaigns[0].id = "home" }), "bid_expired"},
		{"the buyer is removed from the campaign", configure(func(r *marketSpec) { r.campaigns[0].filterSets = r.campaigns[0].filterSets[1:] }), "bid_expired"},
		{"the supplier is removed from the campaign", configure(func(r *marketSpec) { r.campaigns[0].suppliers = []string{"other"} }), "bid_expired"},
		{"the buyers change places", configure(func(r *marketSpec) {
			r.campaigns[0].filterSets[0], r.campaigns[0].filterSets[1] = r.campaigns[0].filterSets[1], r.campaigns[0].filterSets[0]
		}), "blue theirs 8"},
		{"the floor is above the bid", configure(func(r *marketSpec) { r.campaigns[0].floor = "50" }), "blue theirs 8"},
		{"the payout is lower", configure(func(r *marketSpec) { r.campaigns[0].payout = "0.1" }), "blue theirs 8"},
		{"the payout is above the price", configure(func(r *marketSpec) { r.campaigns[0].payout = "$11" }), "blue theirs 8"},
		{"the buyer's endpoint is removed", configure(func(r *marketSpec) { r.buyers[0].postEndpoint = false }), "blue  8"},
		{"the campaign changes its currency", func(x *testExchange) {
			c := x.configuration(twoBidders())
			c.Document += " in euros"
			c.Catalog.Campaigns["auto"].Currency = market.Currency{'E', 'U', 'R'}
			must.Succeed(x.t, x.engine.Configure(c))
		}, "bid_expired"},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, twoBidders(), func(t *testing.T, x *testExchange) {
			a := x.pingAuction(supplierPing(1))
			test.change(x)
			p := postFor(1, a)
			expectEqual(t, x.saleResult(p), test.want)
			expectEqual(t, x.saleResult(p), test.want, "repeat")
		})
	}
}

// The limit is 1,000 unconfirmed deliveries.
func TestBuyerWithTooManyUnconfirmedLeadsGetsNoPost(t *testing.T) {
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
		expectEqual(t, x.saleResult(postFor(1, last)), "bid_expired", "post above the limit")
	})
}
