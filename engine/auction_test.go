package engine_test

import (
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// eventsOf returns the durable events of one type.
func eventsOf[T event.Event](x *testExchange) (all []T) {
	x.t.Helper()
	for _, record := range decodeAll(x.t, x.log.durable()) {
		if record, ok := record.(T); ok {
			all = append(all, record)
		}
	}
	return all
}

func last[T any](t testing.TB, all []T) T {
	t.Helper()
	if len(all) == 0 {
		t.Fatal("no event of this type")
	}
	return all[len(all)-1]
}

// describeOutcomes returns the outcomes by buyer of the first campaign, as "blue:won gold:lost".
func (x *testExchange) describeOutcomes(trail []event.FilterSetsWithOutcome) string {
	filterSets := x.market.campaigns[0].filterSets
	words := make([]string, len(filterSets))
	for _, step := range trail {
		for i := step.FilterSets.NextFrom(0); i >= 0; i = step.FilterSets.NextFrom(i + 1) {
			words[i] = filterSets[i].buyer + ":" + step.Outcome.String()
		}
	}
	return strings.Join(words, " ")
}

// auctionOutcomes returns the outcomes of the last ping's auction.
func (x *testExchange) auctionOutcomes() string {
	x.t.Helper()
	return x.describeOutcomes(last(x.t, eventsOf[*event.PingAuctionCompleted](x)).Trail)
}

// everyOutcomeMarket returns a market with a buyer for each outcome of a ping.
func everyOutcomeMarket() marketSpec {
	few := "5"
	r := auctionMarket(
		"won", "lost", "below_floor", "wrong_currency", "timeout", "no_bid", "invalid", "rate_limited",
		"capped", "dear", "filtered", "wrong_state", "closed", "no_funds", "poor", "paused", "error", "mute",
	)
	r.campaigns[0].floor = "8"
	for i := range r.buyers {
		b, s := &r.buyers[i], &r.campaigns[0].filterSets[i]
		switch b.id {
		case "capped":
			b.caps = []string{"day 0"}
		case "dear": // enough for the floor, too little for its bid
			b.caps = []string{"day $8.50"}
		case "filtered":
			s.filters = []market.FilterSpec{{Field: "vehicles", Min: &few}}
		case "wrong_state":
			s.states = "NY"
		case "closed":
			b.schedule = "UTC Mon 08:00-18:00"
		case "no_funds":
			b.funds = "7.999999"
		case "poor":
			b.funds = "8"
		case "mute":
			b.pingEndpoint = false
		}
	}
	return r
}

func (x *testExchange) scriptOutcomes() {
	x.t.Helper()
	for buyer, o := range map[string]bidReply{
		"won": bids("12"), "lost": bids("11.999999"), "below_floor": bids("7.999999"), "wrong_currency": bids("20").inCurrency("EUR"),
		"timeout": neverBids, "no_bid": noBid, "invalid": invalidBid, "rate_limited": rateLimited, "error": pingError,
		"dear": bids("9"), "poor": bids("8.000001"),
	} {
		x.buyers.scriptBids(buyer, o)
	}
	must.Succeed(x.t, x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectBuyer, "paused", true))
}

// The harness checks that each filter set has exactly one outcome.
func TestAuctionOutcomes(t *testing.T) {
	const want = "won:won lost:lost below_floor:below_floor wrong_currency:wrong_currency timeout:timeout no_bid:no_bid " +
		"invalid:invalid rate_limited:rate_limited capped:capped dear:capped filtered:filtered wrong_state:wrong_state " +
		"closed:closed no_funds:no_funds poor:no_funds paused:paused error:error mute:error"
	runWithExchange(t, "of a ping", everyOutcomeMarket(), func(t *testing.T, x *testExchange) {
		x.scriptOutcomes()
		expectEqual(t, describePing(x.ping(supplierPing(1, "vehicles", "#2"))), "12", "bid")
		expectEqual(t, x.auctionOutcomes(), want)
		record := last(t, eventsOf[*event.PingAuctionCompleted](x))
		if len(record.Bids) != 11 || len(x.buyers.pingAttempts()) != 11 {
			t.Errorf("%d bids of %v", len(record.Bids), x.buyers.pingAttempts())
		}
		for _, bid := range record.Bids {
			if valid := bid.Outcome == market.OutcomeWon || bid.Outcome == market.OutcomeLost; valid != (bid.Token != "") || valid != (bid.Payout != 0) {
				t.Errorf("token or payout does not match the outcome: %+v", bid)
			}
		}
	})
	runInVirtualTime(t, "of an ingest", func(t *testing.T) {
		r := everyOutcomeMarket()
		r.lists = []list{{id: "dnc", field: market.ListPhone, hash: market.HashPlain, entries: []string{"415-200-0001"}}}
		r.buyers = append(r.buyers, buyer{id: "suppressed", postEndpoint: true, pingEndpoint: true, suppress: []string{"dnc"}})
		r.campaigns[0].filterSets = append(r.campaigns[0].filterSets, filterSet{buyer: "suppressed"})
		x := newExchange(t, r)
		x.scriptOutcomes()
		x.buyers.scriptPosts("won", refuses)
		x.buyers.scriptPosts("lost", accepts.after(7*time.Second))
		expectEqual(t, x.ingestResult(leadRequest(1, "vehicles", "#2")), "lost", "sold to")
		decided := last(t, eventsOf[*event.LeadDecided](x))
		expectEqual(t, x.describeOutcomes(decided.Trail), strings.Replace(want, "won:won", "won:post_pending", 1)+" suppressed:suppressed", "at first")
		moved := eventsOf[*event.PostSettled](x)[0]
		expectEqual(t, x.describeOutcomes(moved.Trail), strings.Replace(want, "won:won lost:lost", "won:post_rejected lost:post_pending", 1)+" suppressed:suppressed", "then")
	})
}

func TestEqualBidsAreRankedByPriorityTimeAndName(t *testing.T) {
	tests := []struct {
		name              string
		blue, gold, tan   bidReply
		bluePrio, others  int
		want, second, all string
	}{
		{"the highest", bids("9"), bids("10"), bids("9.999999"), 0, 0, "gold", "tan", "gold tan blue"},
		{"the lower priority", bids("10"), bids("10"), bids("9"), 2, 1, "gold", "blue", "gold blue tan"},
		{"the earlier answer", bids("10").after(2 * ms), bids("10").after(ms), bids("10").after(3 * ms), 1, 1, "gold", "blue", "gold blue tan"},
		{"the name", bids("10"), bids("10"), bids("10"), 1, 1, "blue", "gold", "blue gold tan"},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := auctionMarket("blue", "gold", "tan")
			for i := range r.campaigns[0].filterSets {
				r.campaigns[0].filterSets[i].priority = &test.others
			}
			r.campaigns[0].filterSets[0].priority = &test.bluePrio
			x := newExchange(t, r)
			x.buyers.scriptBids("blue", test.blue)
			x.buyers.scriptBids("gold", test.gold)
			x.buyers.scriptBids("tan", test.tan)
			if _, err := x.ping(supplierPing(1)); err != nil {
				t.Fatal(err)
			}
			var ranked []string
			for _, bid := range last(t, eventsOf[*event.PingAuctionCompleted](x)).Bids {
				ranked = append(ranked, x.state.NameOf(event.ObjectBuyer, bid.Buyer))
			}
			expectEqual(t, strings.Join(ranked, " "), test.all, "ranked")
			x.buyers.scriptPosts(test.want, refuses)
			expectEqual(t, x.ingestResult(leadRequest(1)), test.second, "buyer after a refusal")
		})
	}
}

func TestBidFloorPayoutAndExpiryLimits(t *testing.T) {
	tests := []struct {
		name, floor, payout string
		offer               bidReply
		want                string // outcome, then the supplier's answer
		until               time.Duration
	}{
		{"at the floor", "10", "", bids("10"), "won 10", 5000 * ms},
		{"a millionth under it", "10", "", bids("9.999999"), "below_floor below_floor", 0},
		{"nothing, without a floor", "", "", bids("0"), "won 0", 5000 * ms},
		{"a share, cut at the millionth", "", "0.333333", bids("10.000001"), "won 3.33333", 5000 * ms},
		{"a fixed payout of all of it", "", "$10", bids("10"), "won 10", 5000 * ms},
		{"a fixed payout over it", "", "$10.000001", bids("10"), "below_floor below_floor", 0},
		{"the floor looks at the bid, not at the payout", "10", "0.5", bids("10"), "won 5", 5000 * ms},
		{"in the campaign's currency", "", "", bids("10").inCurrency("USD"), "won 10", 5000 * ms},
		{"in another", "", "", bids("10").inCurrency("CAD"), "wrong_currency no_bid", 0},
		{"good for a second", "", "", bids("10").validFor(time.Second), "won 10", 1000 * ms},
		{"good for long", "", "", bids("10").validFor(time.Hour), "won 10", 5000 * ms},
		{"over by a clock that is behind", "", "", bids("10").validFor(-1999 * ms), "won 10", -1999 * ms},
		{"over by more than that", "", "", bids("10").validFor(-2000 * ms), "invalid no_bid", 0},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := auctionMarket("blue")
			r.campaigns[0].floor, r.campaigns[0].payout = test.floor, test.payout
			x := newExchange(t, r)
			x.buyers.scriptBids("blue", test.offer)
			answer, err := x.ping(supplierPing(1))
			got := strings.TrimPrefix(x.auctionOutcomes(), "blue:") + " " + describePing(answer, err)
			expectEqual(t, got, test.want)
			if answer.Bid && (answer.ValidUntil != virtualStart.Add(test.until).UnixNano() || answer.Currency.String() != "USD" || answer.Token.IsZero()) {
				t.Errorf("wrong expiry or token: %+v", answer)
			}
		})
	}
}

// The reason is the furthest stage that a candidate reached. It is timeout if all pinged buyers
// timed out.
func TestAuctionReasons(t *testing.T) {
	tests := []struct {
		name   string
		offers map[string]bidReply
		pause  string
		want   string
	}{
		{"all timed out", map[string]bidReply{"blue": neverBids, "gold": neverBids, "tan": neverBids}, "", "timeout"},
		{"all that were asked", map[string]bidReply{"blue": neverBids, "gold": neverBids}, "tan", "timeout"},
		{"one answered", map[string]bidReply{"blue": neverBids, "gold": noBid, "tan": neverBids}, "", "no_bid"},
		{"one failed", map[string]bidReply{"blue": neverBids, "gold": pingError, "tan": neverBids}, "", "no_bid"},
		{"one was limited", map[string]bidReply{"blue": neverBids, "gold": rateLimited, "tan": neverBids}, "", "no_bid"},
		{"all were limited", map[string]bidReply{"blue": rateLimited, "gold": rateLimited, "tan": rateLimited}, "", "rate_limited"},
		{"one bid too little", map[string]bidReply{"blue": bids("1"), "gold": noBid, "tan": neverBids}, "", "below_floor"},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := auctionMarket("blue", "gold", "tan")
			r.campaigns[0].floor = "2"
			x := newExchange(t, r)
			for name, o := range test.offers {
				x.buyers.scriptBids(name, o)
			}
			if test.pause != "" {
				must.Succeed(t, x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectBuyer, test.pause, true))
			}
			expectEqual(t, describePing(x.ping(supplierPing(1)))+" "+x.ingestResult(leadRequest(1)), test.want+" "+test.want)
		})
	}
}

// TestPauseEndIsRecorded: the bid of a buyer that answered 429 has the end of the pause that it demanded.
func TestPauseEndIsRecorded(t *testing.T) {
	runWithExchange(t, "", auctionMarket("blue", "gold"), func(t *testing.T, x *testExchange) {
		limited := rateLimited.after(20 * ms)
		limited.result.RetryAfter = 30 * time.Second
		x.buyers.scriptBids("blue", limited)
		x.ping(supplierPing(1))
		auction := eventsOf[*event.PingAuctionCompleted](x)[0]
		for _, bid := range auction.Bids {
			want := int64(0)
			if bid.Outcome == market.OutcomeRateLimited {
				want = auction.Began + bid.Elapsed + int64(30*time.Second)
			}
			expectEqual(t, bid.PausedUntil, want, bid.Outcome)
		}
		expectEqual(t, x.auctionOutcomes(), "blue:rate_limited gold:won")
	})
}

func TestBuyerClientPanicFailsOnlyThatBuyer(t *testing.T) {
	runWithExchange(t, "", auctionMarket("blue", "gold"), func(t *testing.T, x *testExchange) {
		x.buyers.scriptBids("blue", panicsAtPing)
		expectEqual(t, describePing(x.ping(supplierPing(1)))+", "+x.auctionOutcomes(), "10, blue:error gold:won")
		expectEqual(t, x.observed.faults.Load(), 1, "reported faults")
	})
}

// Late answers change nothing, even if later auctions reuse the memory. The harness compares the
// bodies.
func TestLateBidsAreIgnored(t *testing.T) {
	runWithExchange(t, "", auctionMarket("blue", "gold"), func(t *testing.T, x *testExchange) {
		x.buyers.scriptBids("blue", bids("99").ignoringDeadline(2500*ms), bids("98").ignoringDeadline(3100*ms), bids("97").ignoringDeadline(2001*ms), bids("1"))
		x.buyers.scriptBids("gold", bids("2"), bids("3"), bids("4"), bids("5"))
		var got []string
		for n := range 8 {
			got = append(got, describePing(x.ping(supplierPing(n))))
		}
		if want := "2 3 4 5 5 5 5 5"; strings.Join(got, " ") != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

func TestCloseEndsAuctionsWithoutDecision(t *testing.T) {
	runWithExchange(t, "", auctionMarket("blue"), func(t *testing.T, x *testExchange) {
		x.buyers.scriptBids("blue", bids("10").after(time.Second))
		p := x.startPing(supplierPing(1))
		lead := x.startIngest(leadRequest(1))
		time.Sleep(500 * ms)
		entries := x.log.len()
		x.engine.Close()
		for _, got := range []string{p.wait(), lead.wait()} {
			expectEqual(t, got, "error: "+engine.ErrUnavailable.Error())
		}
		expectEqual(t, x.log.len(), entries, "log entries")
	})
}

// Buyers get the exchange's auction id, never the supplier's.
func TestPingBody(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := auctionMarket("blue")
		r.campaigns[0].subVertical = "sports_cars"
		x := newExchange(t, r)
		x.pingAll(t, supplierPing(1, "auction_id", "their own", "sub_vertical", "sports_cars", "zip3", "941", "mood", "good", "hobby", `#{"a":[1]}`))
		want := `","vertical":"auto_insurance","sub_vertical":"sports_cars","state":"CA","tcpa_consent":true,"zip3":"941","hobby":{"a":[1]},"mood":"good","expires_at":"2000-01-01T00:00:02.000Z"}`
		got := string(x.buyers.pings[0].body)
		if _, rest, _ := strings.Cut(got, `{"auction_id":"auc_`); rest[26:] != want {
			t.Errorf("%s, want\n%s", got, want)
		}
		expectEqual(t, x.recordedFields(t), `state=CA tcpa_consent=true zip=941`, "recorded")
		x.ingestResult(leadRequest(1, "flo_campaign_id", "auto", "zip", "94110"))
		if got := string(x.buyers.pings[1].body); !strings.Contains(got, `"zip3":"941"`) || strings.Contains(got, "94110") {
			t.Errorf("the ping of an ingest is %s", got)
		}
	})
}

// pingAll sends the pings and fails the test on an error.
func (x *testExchange) pingAll(t testing.TB, all ...request) {
	t.Helper()
	for _, r := range all {
		if _, err := x.ping(r); err != nil {
			t.Fatal(err)
		}
	}
}
