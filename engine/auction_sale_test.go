package engine_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// bidding is the same market, with an auction in place of every other method;
// each buyer bids 10 at once.
func (r rig) bidding() rig {
	r = r.changeBuyers(func(b *buyer) { b.pings = true })
	r.campaigns = slices.Clone(r.campaigns)
	for i := range r.campaigns {
		r.campaigns[i].method = market.PingPost
	}
	return r
}

// A lead that was auctioned goes its way as every other does: the next best bid
// is as good as the next buyer in line.
func TestDeliveryAfterAnAuction(t *testing.T) {
	eachHistory(two().bidding(), func(h history, r rig) {
		trading(t, h.what, r, func(t *testing.T, x *exchange) {
			x.world.behave = (&played{exchange: x, drama: drama{people: []history{h}}}).behave
			x.sendInHistory(h, person(0))
			expectEqual(t, len(x.world.pings), 2, "asked ", x.world.rang())
		})
	})
}

// Whatever entry of such a delivery the power is cut at.
func TestPowerCutAtEveryEntryAfterAnAuction(t *testing.T) {
	eachHistory(two().bidding(), func(h history, r rig) {
		t.Run(h.what, func(t *testing.T) { everyCut(t, drama{rig: r, people: []history{h}}.perform) })
	})
}

// Who gets the lead, at what price, and what it leaves of 100 each.
func TestAuctionedLeads(t *testing.T) {
	tests := []struct {
		what            string
		blue, gold, tan offer
		refusing        string
		want            string
		balances        string // of blue, gold, tan
	}{
		{"the best bid", bids("9"), bids("12.345678"), bids("10"), "", "gold 9.876542", "100 87.654322 100"},
		{"the best that stands", bids("9"), bids("2"), bids("10").of("EUR"), "", "blue 7.2", "91 100 100"},
		{"the next best", bids("9"), bids("12"), bids("10"), "gold", "tan 8", "100 100 90"},
		{"the last", bids("9"), bids("12"), bids("10"), "gold tan", "blue 7.2", "91 100 100"},
		{"none", bids("9"), bids("12"), bids("10"), "gold tan blue", "post_rejected 0", "100 100 100"},
		{"no bid", passes, bids("2.999999"), sleeps, "", "below_floor 0", "100 100 100"},
		{"nobody answers", sleeps, sleeps, sleeps, "", "timeout 0", "100 100 100"},
		{"more than it has", bids("9"), bids("100.000001"), passes, "", "blue 7.2", "91 100 100"},
		{"all that it has", bids("9"), bids("100"), passes, "", "gold 80", "100 0 100"},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			r := auctions("blue", "gold", "tan")
			for i := range r.buyers {
				r.buyers[i].funds = "100"
			}
			r.campaigns[0].floor, r.campaigns[0].payout = "3", "0.8"
			x := begin(t, r)
			x.world.offers("blue", test.blue)
			x.world.offers("gold", test.gold)
			x.world.offers("tan", test.tan)
			for _, name := range strings.Fields(test.refusing) {
				x.world.script(name, refuses)
			}
			answer, err := x.send(person(1))
			expectEqual(t, said(answer, err)+" "+answer.Payout.String(), test.want)
			var balances []string
			for _, name := range []string{"blue", "gold", "tan"} {
				balance, _ := x.state.BuyerBalance(x.state.RefOf(event.ObjectBuyer, name))
				balances = append(balances, balance.String())
			}
			expectEqual(t, strings.Join(balances, " "), test.balances, "they have")
			expectEqual(t, len(x.world.pings), 3, "asked ", x.world.rang())
		})
	}
}

// A buyer without an endpoint for posts gets its lead recorded.
func TestAnAuctionedLeadIsRecorded(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := auctions("blue", "gold")
		r.buyers[1].posts = false
		x := begin(t, r)
		x.world.offers("gold", bids("11"))
		answer, err := x.send(person(1))
		if got := said(answer, err) + ", " + x.stands(answer); got != "gold, ACCEPTED none" || len(x.world.tried()) > 0 {
			t.Errorf("%s, posted %v", got, x.world.tried())
		}
		decided := last(t, recordsOf[*event.LeadDecided](x))
		if got := x.outcomes(decided.Trail); got != "blue:lost gold:won" || decided.Auction.Deadline != began.Add(2*time.Second).UnixNano() {
			t.Errorf("%s, %+v", got, decided.Auction)
		}
	})
}

// Without a state a lead is nobody's, whatever states the buyers take.
func TestAuctionNeedsAState(t *testing.T) {
	trading(t, "", auctions("blue"), func(t *testing.T, x *exchange) {
		if got := x.tell(person(1, "state", "-")); got != "no_state_match" || len(x.world.pings) > 0 {
			t.Errorf("%s, asked %v", got, x.world.rang())
		}
	})
}

// What the campaign does not take at all, nobody is asked for.
func TestNoAuctionForWhatIsNotTaken(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		four := "4"
		r := auctions("blue")
		r.lists = []list{{id: "dnc", field: market.ListPhone, hash: market.HashPlain, entries: []string{"415-200-0002"}}}
		c := &r.campaigns[0]
		c.suppress, c.duplicates, c.filters = []string{"dnc"}, anyOf, []market.FilterSpec{{Field: "vehicles", Max: &four}}
		x := begin(t, r)
		var got []string
		for _, p := range []request{person(1, "vehicles", "#1"), person(1, "vehicles", "#2"), person(2, "vehicles", "#1"), person(3, "vehicles", "#5")} {
			got = append(got, x.tell(p))
		}
		if words := strings.Join(got, " "); words != "blue duplicate suppressed filtered" || len(x.world.pings) != 1 {
			t.Errorf("%s, asked %v", words, x.world.rang())
		}
	})
	bubble(t, "one that is in flight", func(t *testing.T) {
		r := auctions("blue")
		r.campaigns[0].duplicates = anyOf
		x := begin(t, r)
		x.world.offers("blue", bids("10").in(time.Second))
		first := x.goSend(person(1))
		synctest.Wait()
		second := x.goSend(person(1))
		if got := first.wait() + " " + second.wait(); got != "blue duplicate" || len(x.world.pings) != 1 {
			t.Errorf("%s, asked %v", got, x.world.rang())
		}
	})
}

// A bid is good until its own end and no longer, whatever the cascade takes.
func TestBidsThatExpire(t *testing.T) {
	tests := []struct {
		what  string
		gold  offer // the best; blue bids 9 and tan 8
		blue  offer
		reply reply // of gold
		want  string
		trail string
	}{
		{"before anything is posted", bids("10").until(-ms), bids("9").until(-ms), accepts, "tan", "blue:lost gold:lost tan:post_pending"},
		{"while the best refuses", bids("10"), bids("9").until(900 * ms), refuses.in(time.Second), "tan", "blue:lost gold:post_rejected tan:post_pending"},
		{"not quite", bids("10"), bids("9").until(1001 * ms), refuses.in(time.Second), "blue", "blue:post_pending gold:post_rejected tan:lost"},
	}
	for _, test := range tests {
		trading(t, test.what, auctions("blue", "gold", "tan"), func(t *testing.T, x *exchange) {
			x.world.offers("gold", test.gold)
			x.world.offers("blue", test.blue)
			x.world.offers("tan", bids("8"))
			x.world.script("gold", test.reply)
			expectEqual(t, x.tell(person(1)), test.want, "sold to")
			trail := last(t, recordsOf[*event.LeadDecided](x)).Trail
			if settled := recordsOf[*event.PostSettled](x); len(settled) > 1 {
				trail = settled[0].Trail
			}
			expectEqual(t, x.outcomes(trail), test.trail)
		})
	}
	trading(t, "all of them", auctions("blue"), func(t *testing.T, x *exchange) {
		x.world.offers("blue", bids("10").until(-ms))
		if got := x.tell(person(1)); got != "bid_expired" || len(x.world.tried()) > 0 {
			t.Errorf("%s, posted %v", got, x.world.tried())
		}
	})
}

// Caps and money count the bid. One that only another request's reservation
// leaves no room for waits to know.
func TestRoomForABid(t *testing.T) {
	tests := []struct {
		what string
		rig  func(r *rig)
		bids []offer // of blue, one lead after the other; gold bids 5
		want string
	}{
		{"a cap on money", func(r *rig) { r.buyers[0].caps = []string{"day $15"} }, []offer{bids("10"), bids("6"), bids("5.5"), bids("5.5")}, "blue gold gold gold"},
		{"a cap on money that is met", func(r *rig) { r.buyers[0].caps = []string{"day $15"} }, []offer{bids("9"), bids("6"), bids("6")}, "blue blue gold"},
		{"the pair's cap", func(r *rig) { r.campaigns[0].seats[0].caps = []string{"day 1"} }, []offer{bids("9"), bids("9")}, "blue gold"},
		{"the campaign's cap", func(r *rig) { r.campaigns[0].caps = []string{"day $12"} }, []offer{bids("9"), bids("9"), bids("9")}, "blue caps_full caps_full"},
		{"funds", func(r *rig) { r.buyers[0].funds = "12" }, []offer{bids("9"), bids("9"), bids("5.5")}, "blue gold gold"},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			r := auctions("blue", "gold")
			test.rig(&r)
			x := begin(t, r)
			x.world.offers("blue", test.bids...)
			x.world.offers("gold", bids("5"))
			if test.what == "a cap on money" {
				x.world.script("gold", accepts)
			}
			expectEqual(t, x.told(1, len(test.bids)), test.want)
		})
	}
	bubble(t, "a place that another has reserved", func(t *testing.T) {
		r := auctions("blue", "gold")
		r.buyers[0].caps = []string{"day 1"}
		x := begin(t, r)
		x.world.offers("gold", bids("5"))
		x.log.slow(500 * ms)
		a, b := x.goSend(person(1)), x.goSend(person(2))
		got := []string{a.wait(), b.wait()}
		if strings.Join(got, " ") != "blue gold" && strings.Join(got, " ") != "gold blue" {
			t.Errorf("%v", got)
		}
		expectEqual(t, len(x.world.pings), 4, "pings: nobody is asked twice")
		x.log.slow(0)
	})
	bubble(t, "a place that a refusal gives back", func(t *testing.T) {
		r := auctions("blue", "gold")
		r.campaigns[0].caps = []string{"day 1"}
		x := begin(t, r)
		x.world.offers("gold", bids("5"))
		x.world.script("blue", refuses)
		expectEqual(t, x.told(1, 2), "gold caps_full")
	})
}

// The next best bidder's doors are looked at when it is its turn.
func TestCascadePassesDoorsThatShutMeanwhile(t *testing.T) {
	trading(t, "", auctions("blue", "gold", "tan"), func(t *testing.T, x *exchange) {
		x.world.script("blue", refuses.in(time.Second))
		s := x.goSend(person(1))
		time.Sleep(500 * ms)
		must.Succeed(t, x.engine.AsOperator("").SetPaused(event.ObjectBuyer, "gold", true))
		expectEqual(t, s.wait(), "tan", "sold, after ", x.world.tried())
	})
}

// So are those of the best, after the auction.
func TestAuctionPassesDoorsThatShutMeanwhile(t *testing.T) {
	trading(t, "", auctions("blue", "gold"), func(t *testing.T, x *exchange) {
		x.world.offers("blue", bids("11"))
		x.world.offers("gold", bids("10").in(time.Second))
		s := x.goSend(person(1))
		time.Sleep(500 * ms)
		must.Succeed(t, x.engine.AsOperator("").SetPaused(event.ObjectBuyer, "blue", true))
		got := s.wait() + ", " + x.outcomes(last(t, recordsOf[*event.LeadDecided](x)).Trail)
		expectEqual(t, got, "gold, blue:paused gold:post_pending")
	})
}

// Many at once: no cap and no money is exceeded, whatever is bid; the harness
// adds up every fact.
func TestCrowdOfAuctions(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := auctions("blue", "gold", "tan", "red")
		r.buyers[0].caps, r.buyers[0].funds = []string{"total 20", "day $150"}, "400"
		r.buyers[1].caps, r.buyers[1].funds = []string{"total $90"}, "60"
		r.buyers[2].rate = 500
		r.campaigns[0].caps = []string{"total 70"}
		r.campaigns[0].payout = "0.777777"
		x := begin(t, r)
		x.world.offers("blue", bids("7.000001"), bids("12").in(3*ms), bids("9.5").in(ms))
		x.world.offers("gold", bids("8"), passes, bids("11.999999").in(2*ms), sleeps)
		x.world.offers("tan", bids("5").in(ms), bids("15"), fails)
		x.world.offers("red", bids("1"))
		x.world.script("blue", accepts.in(ms))
		x.world.script("tan", refuses.in(2*ms))
		x.log.slow(ms)
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				time.Sleep(time.Duration(i%17) * ms)
				switch i % 3 {
				case 0:
					x.pingAll(t, inquiry(i/2), inquiry(i/2))
				default:
					if got := x.tell(person(i)); strings.HasPrefix(got, "error") {
						t.Error(got)
					}
				}
			})
		}
		wg.Wait()
		x.log.slow(0)
	})
}
