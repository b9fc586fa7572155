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

// recordsOf returns all records of one kind that are durable so far.
func recordsOf[T event.Event](x *exchange) (all []T) {
	x.t.Helper()
	for _, fact := range decodeAll(x.t, x.log.durable()) {
		if fact, ok := fact.(T); ok {
			all = append(all, fact)
		}
	}
	return all
}

func last[T any](t testing.TB, all []T) T {
	t.Helper()
	if len(all) == 0 {
		t.Fatal("there is no such fact")
	}
	return all[len(all)-1]
}

// outcomes are a trail's, by the buyers of the rig's first campaign, as
// "blue:won gold:lost".
func (x *exchange) outcomes(trail []event.FilterSetsWithOutcome) string {
	seats := x.rig.campaigns[0].seats
	words := make([]string, len(seats))
	for _, step := range trail {
		for i := step.FilterSets.NextFrom(0); i >= 0; i = step.FilterSets.NextFrom(i + 1) {
			words[i] = seats[i].buyer + ":" + step.Outcome.String()
		}
	}
	return strings.Join(words, " ")
}

// came is what became of everyone in the last auction of a ping.
func (x *exchange) came() string {
	x.t.Helper()
	return x.outcomes(last(x.t, recordsOf[*event.PingAuctionCompleted](x)).Trail)
}

// every outcome that a ping can end in, side by side.
func everyOutcome() rig {
	few := "5"
	r := auctions(
		"won", "lost", "below_floor", "wrong_currency", "timeout", "no_bid", "invalid", "rate_limited",
		"capped", "dear", "filtered", "wrong_state", "closed", "no_funds", "poor", "paused", "error", "mute",
	)
	r.campaigns[0].floor = "8"
	for i := range r.buyers {
		b, s := &r.buyers[i], &r.campaigns[0].seats[i]
		switch b.id {
		case "capped":
			b.caps = []string{"day 0"}
		case "dear": // there is room for the floor, not for its bid
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
			b.pings = false
		}
	}
	return r
}

func (x *exchange) scriptOutcomes() {
	x.t.Helper()
	for buyer, o := range map[string]offer{
		"won": bids("12"), "lost": bids("11.999999"), "below_floor": bids("7.999999"), "wrong_currency": bids("20").of("EUR"),
		"timeout": sleeps, "no_bid": passes, "invalid": garbles, "rate_limited": throttles, "error": fails,
		"dear": bids("9"), "poor": bids("8.000001"),
	} {
		x.world.offers(buyer, o)
	}
	must.Succeed(x.t, x.engine.AsOperator("").SetPaused(event.ObjectBuyer, "paused", true))
}

// Every candidate comes to exactly one outcome; the harness adds them up.
func TestOutcomesOfAnAuction(t *testing.T) {
	const want = "won:won lost:lost below_floor:below_floor wrong_currency:wrong_currency timeout:timeout no_bid:no_bid " +
		"invalid:invalid rate_limited:rate_limited capped:capped dear:capped filtered:filtered wrong_state:wrong_state " +
		"closed:closed no_funds:no_funds poor:no_funds paused:paused error:error mute:error"
	trading(t, "of a ping", everyOutcome(), func(t *testing.T, x *exchange) {
		x.scriptOutcomes()
		expectEqual(t, heard(x.ping(inquiry(1, "vehicles", "#2"))), "12", "bid")
		expectEqual(t, x.came(), want)
		fact := last(t, recordsOf[*event.PingAuctionCompleted](x))
		if len(fact.Bids) != 11 || len(x.world.rang()) != 11 {
			t.Errorf("%d bids of %v", len(fact.Bids), x.world.rang())
		}
		for _, bid := range fact.Bids {
			if stands := bid.Outcome == market.OutcomeWon || bid.Outcome == market.OutcomeLost; stands != (bid.Token != "") || stands != (bid.Payout != 0) {
				t.Errorf("a bid that stands or not, with a token and a payout or not: %+v", bid)
			}
		}
	})
	bubble(t, "of an ingest", func(t *testing.T) {
		r := everyOutcome()
		r.lists = []list{{id: "dnc", field: market.ListPhone, hash: market.HashPlain, entries: []string{"415-200-0001"}}}
		r.buyers = append(r.buyers, buyer{id: "suppressed", posts: true, pings: true, refuses: []string{"dnc"}})
		r.campaigns[0].seats = append(r.campaigns[0].seats, seat{buyer: "suppressed"})
		x := begin(t, r)
		x.scriptOutcomes()
		x.world.script("won", refuses)
		x.world.script("lost", accepts.in(7*time.Second))
		expectEqual(t, x.tell(person(1, "vehicles", "#2")), "lost", "sold to")
		decided := last(t, recordsOf[*event.LeadDecided](x))
		expectEqual(t, x.outcomes(decided.Trail), strings.Replace(want, "won:won", "won:post_pending", 1)+" suppressed:suppressed", "at first")
		moved := recordsOf[*event.PostSettled](x)[0]
		expectEqual(t, x.outcomes(moved.Trail), strings.Replace(want, "won:won lost:lost", "won:post_rejected lost:post_pending", 1)+" suppressed:suppressed", "then")
	})
}

// Of equal bids the rule picks one, whoever came first into the list.
func TestTies(t *testing.T) {
	tests := []struct {
		what              string
		blue, gold, tan   offer
		bluePrio, others  int
		want, second, all string
	}{
		{"the highest", bids("9"), bids("10"), bids("9.999999"), 0, 0, "gold", "tan", "gold tan blue"},
		{"the lower priority", bids("10"), bids("10"), bids("9"), 2, 1, "gold", "blue", "gold blue tan"},
		{"the earlier answer", bids("10").in(2 * ms), bids("10").in(ms), bids("10").in(3 * ms), 1, 1, "gold", "blue", "gold blue tan"},
		{"the name", bids("10"), bids("10"), bids("10"), 1, 1, "blue", "gold", "blue gold tan"},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			r := auctions("blue", "gold", "tan")
			for i := range r.campaigns[0].seats {
				r.campaigns[0].seats[i].priority = &test.others
			}
			r.campaigns[0].seats[0].priority = &test.bluePrio
			x := begin(t, r)
			x.world.offers("blue", test.blue)
			x.world.offers("gold", test.gold)
			x.world.offers("tan", test.tan)
			if _, err := x.ping(inquiry(1)); err != nil {
				t.Fatal(err)
			}
			var ranked []string
			for _, bid := range last(t, recordsOf[*event.PingAuctionCompleted](x)).Bids {
				ranked = append(ranked, x.state.NameOf(event.ObjectBuyer, bid.Buyer))
			}
			expectEqual(t, strings.Join(ranked, " "), test.all, "ranked")
			x.world.script(test.want, refuses)
			expectEqual(t, x.tell(person(1)), test.second, "after a refusal it went to")
		})
	}
}

// Floors, payouts and windows, each at its edge. One buyer, whose bid is 10
// unless the row says otherwise.
func TestBidsAtTheEdge(t *testing.T) {
	tests := []struct {
		what, floor, payout string
		offer               offer
		want                string // outcome and what the seller is told
		until               time.Duration
	}{
		{"at the floor", "10", "", bids("10"), "won 10", 5000 * ms},
		{"a millionth under it", "10", "", bids("9.999999"), "below_floor below_floor", 0},
		{"nothing, without a floor", "", "", bids("0"), "won 0", 5000 * ms},
		{"a share, cut at the millionth", "", "0.333333", bids("10.000001"), "won 3.33333", 5000 * ms},
		{"a fixed payout of all of it", "", "$10", bids("10"), "won 10", 5000 * ms},
		{"a fixed payout over it", "", "$10.000001", bids("10"), "below_floor below_floor", 0},
		{"the floor looks at the bid, not at the payout", "10", "0.5", bids("10"), "won 5", 5000 * ms},
		{"in the campaign's currency", "", "", bids("10").of("USD"), "won 10", 5000 * ms},
		{"in another", "", "", bids("10").of("CAD"), "wrong_currency no_bid", 0},
		{"good for a second", "", "", bids("10").until(time.Second), "won 10", 1000 * ms},
		{"good for long", "", "", bids("10").until(time.Hour), "won 10", 5000 * ms},
		{"over by a clock that is behind", "", "", bids("10").until(-1999 * ms), "won 10", -1999 * ms},
		{"over by more than that", "", "", bids("10").until(-2000 * ms), "invalid no_bid", 0},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			r := auctions("blue")
			r.campaigns[0].floor, r.campaigns[0].payout = test.floor, test.payout
			x := begin(t, r)
			x.world.offers("blue", test.offer)
			answer, err := x.ping(inquiry(1))
			got := strings.TrimPrefix(x.came(), "blue:") + " " + heard(answer, err)
			expectEqual(t, got, test.want)
			if answer.Bid && (answer.ValidUntil != began.Add(test.until).UnixNano() || answer.Currency.String() != "USD" || answer.Token.IsZero()) {
				t.Errorf("%+v", answer)
			}
		})
	}
}

// A reason is the furthest stage of any candidate; timeout where all that were
// asked timed out, whoever was not asked.
func TestReasonsOfAPing(t *testing.T) {
	tests := []struct {
		what   string
		offers map[string]offer
		pause  string
		want   string
	}{
		{"all timed out", map[string]offer{"blue": sleeps, "gold": sleeps, "tan": sleeps}, "", "timeout"},
		{"all that were asked", map[string]offer{"blue": sleeps, "gold": sleeps}, "tan", "timeout"},
		{"one answered", map[string]offer{"blue": sleeps, "gold": passes, "tan": sleeps}, "", "no_bid"},
		{"one failed", map[string]offer{"blue": sleeps, "gold": fails, "tan": sleeps}, "", "no_bid"},
		{"one was limited", map[string]offer{"blue": sleeps, "gold": throttles, "tan": sleeps}, "", "no_bid"},
		{"all were limited", map[string]offer{"blue": throttles, "gold": throttles, "tan": throttles}, "", "rate_limited"},
		{"one bid too little", map[string]offer{"blue": bids("1"), "gold": passes, "tan": sleeps}, "", "below_floor"},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			r := auctions("blue", "gold", "tan")
			r.campaigns[0].floor = "2"
			x := begin(t, r)
			for name, o := range test.offers {
				x.world.offers(name, o)
			}
			if test.pause != "" {
				must.Succeed(t, x.engine.AsOperator("").SetPaused(event.ObjectBuyer, test.pause, true))
			}
			expectEqual(t, heard(x.ping(inquiry(1)))+" "+x.tell(person(1)), test.want+" "+test.want)
		})
	}
}

// A ping that goes wrong in our own house is one buyer's error, and told.
func TestAPanicIsOneBuyersError(t *testing.T) {
	trading(t, "", auctions("blue", "gold"), func(t *testing.T, x *exchange) {
		x.world.offers("blue", blowsUp)
		expectEqual(t, heard(x.ping(inquiry(1)))+", "+x.came(), "10, blue:error gold:won")
		expectEqual(t, x.noted.faults.Load(), 1, "faults were told")
	})
}

// What comes after the end changes nothing, however many auctions use the same
// memory meanwhile; the harness holds every body to what it was.
func TestLaggards(t *testing.T) {
	trading(t, "", auctions("blue", "gold"), func(t *testing.T, x *exchange) {
		x.world.offers("blue", bids("99").late(2500*ms), bids("98").late(3100*ms), bids("97").late(2001*ms), bids("1"))
		x.world.offers("gold", bids("2"), bids("3"), bids("4"), bids("5"))
		var got []string
		for n := range 8 {
			got = append(got, heard(x.ping(inquiry(n))))
		}
		if want := "2 3 4 5 5 5 5 5"; strings.Join(got, " ") != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// A stop decides nothing.
func TestAStopEndsAuctions(t *testing.T) {
	trading(t, "", auctions("blue"), func(t *testing.T, x *exchange) {
		x.world.offers("blue", bids("10").in(time.Second))
		p := x.goPing(inquiry(1))
		lead := x.goSend(person(1))
		time.Sleep(500 * ms)
		held := x.log.len()
		x.engine.Close()
		for _, got := range []string{p.wait(), lead.wait()} {
			expectEqual(t, got, "error: "+engine.ErrUnavailable.Error())
		}
		expectEqual(t, x.log.len(), held, "something was logged")
	})
}

// The names of our auctions are ours alone, and sellers' never reach a buyer.
func TestWhatBuyersAreTold(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := auctions("blue")
		r.campaigns[0].sub = "sports_cars"
		x := begin(t, r)
		x.pingAll(t, inquiry(1, "auction_id", "their own", "sub_vertical", "sports_cars", "zip3", "941", "mood", "good", "hobby", `#{"a":[1]}`))
		want := `","vertical":"auto_insurance","sub_vertical":"sports_cars","state":"CA","tcpa_consent":true,"zip3":"941","hobby":{"a":[1]},"mood":"good","expires_at":"2000-01-01T00:00:02.000Z"}`
		got := string(x.world.pings[0].body)
		if _, rest, _ := strings.Cut(got, `{"auction_id":"auc_`); rest[26:] != want {
			t.Errorf("%s, want\n%s", got, want)
		}
		expectEqual(t, x.recorded(t), `state=CA tcpa_consent=true zip=941`, "recorded")
		x.tell(person(1, "flo_campaign_id", "auto", "zip", "94110"))
		if got := string(x.world.pings[1].body); !strings.Contains(got, `"zip3":"941"`) || strings.Contains(got, "94110") {
			t.Errorf("an ingest's ping says %s", got)
		}
	})
}

// pingAll pings and sees that each is answered.
func (x *exchange) pingAll(t testing.TB, all ...request) {
	t.Helper()
	for _, r := range all {
		if _, err := x.ping(r); err != nil {
			t.Fatal(err)
		}
	}
}
