package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// An operator's late word about an old lead does not overwrite what is
// remembered of a newer one.
func TestLateSettlementKeepsTheNewerDuplicate(t *testing.T) {
	for _, how := range []event.PostSettlement{event.SettledConfirmed, event.SettledReleased} {
		bubble(t, how.String(), func(t *testing.T) {
			hour := anyOf
			hour.Window = int64(time.Hour)
			r := selling(market.Waterfall, buyer{id: "blue", posts: true})
			r.campaigns[0].duplicates = hour
			x := begin(t, r)
			x.world.script("blue", breaks)
			old, _ := x.send(person(1))
			time.Sleep(2 * time.Hour)
			x.world.script("blue", accepts)
			expectEqual(t, x.tell(person(1)), "blue", "two hours later")
			must.Succeed(t, x.engine.AsOperator("").ResolveUnconfirmedDelivery(old.Lead, how))
			expectEqual(t, x.tell(person(1)), "duplicate", "at once after the newer one")
		})
	}
}

// Retries after a restart are never further away than the schedule has them,
// whatever the clock did.
func TestRetryAfterAClockThatWentBack(t *testing.T) {
	trading(t, "", selling(market.Waterfall, buyer{id: "blue", posts: true}), func(t *testing.T, x *exchange) {
		x.world.script("blue", breaks, breaks, breaks, accepts)
		s := x.goSend(person(1))
		s.wait()
		time.Sleep(500 * ms)
		by := -48 * time.Hour
		x.tune = func(o *engine.Options) { o.Clock = shiftedClock{by: by} }
		x.crash()
		time.Sleep(time.Minute)
		if got := strings.Join(x.world.tried(), " "); !strings.HasPrefix(got, "blue@0s blue@1s blue@3s blue@7.5s") {
			t.Errorf("tried %s", got)
		}
	})
}

// What a buyer bought while its money was not limited is not on account.
func TestOpeningBalanceIsTheBalance(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := selling(market.Waterfall, buyer{id: "blue"})
		x := begin(t, r)
		for i := range 10 {
			x.tell(person(i))
		}
		r.buyers = []buyer{{id: "blue", funds: "50"}}
		x.configure(r)
		for i, want := range []string{"blue", "blue", "blue", "blue", "blue", "insufficient_funds"} {
			expectEqual(t, x.tell(person(100+i)), want, "lead ", i)
		}
	})
}

// shiftedClock is off by so much.
type shiftedClock struct {
	bubbleClock
	by time.Duration
}

func (c shiftedClock) Now() int64 { return c.bubbleClock.Now() + int64(c.by) }

// A lead that nobody knows to have arrived stays in memory until somebody does,
// however long that takes: whose it is, and what it earns, is nowhere else.
func TestUnknownDeliveriesAreNotForgotten(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long sends the 30,000 other leads")
	}
	for _, row := range []struct {
		what   string
		settle func(x *exchange, a engine.IngestAnswer) string
		stands string
		tells  string
		earns  string
	}{
		{"confirmed", func(x *exchange, a engine.IngestAnswer) string {
			return decided(x.engine.AsOperator("").ResolveUnconfirmedDelivery(a.Lead, event.SettledConfirmed))
		}, "ACCEPTED confirmed", "lead.posted", "8"},
		{"released", func(x *exchange, a engine.IngestAnswer) string {
			return decided(x.engine.AsOperator("").ResolveUnconfirmedDelivery(a.Lead, event.SettledReleased))
		}, "UNMATCHED released post_rejected", "lead.post_failed", "0"},
		{"reported", func(x *exchange, a engine.IngestAnswer) string {
			x.reported(saying(a, "sold"))
			return "ok"
		}, "sold confirmed", "lead.posted", "8"},
	} {
		bubble(t, row.what, func(t *testing.T) {
			r := hooked(bought(returns(nil)))
			r.buyers[0].posts = true
			x := begin(t, r)
			x.world.script("blue", breaks)
			lost := x.sold(1)
			time.Sleep(5 * time.Minute)
			x.world.script("blue", refuses)
			time.Sleep(60 * day)
			x.others(5000)
			time.Sleep(time.Second)
			from := time.Now()
			expectEqual(t, row.settle(x, lost), "ok")
			expectEqual(t, x.stands(lost), row.stands, "it stands at")
			if !slices.Contains(x.owed(), row.tells+" "+lost.Lead.String()) {
				t.Error("its supplier is not told")
			}
			period := ledger.Period{From: from.UnixNano(), To: time.Now().Add(time.Second).UnixNano()}
			tally := ledger.NewStatementBuilder(ledger.Party{Kind: event.ObjectSupplier, Ref: x.lead(lost).Supplier}, period, x.state.BuyerFunds(0))
			for i, fact := range decodeAll(t, x.log.durable()) {
				tally.AddEvent(uint64(i+1), x.log.entries[i].at, fact)
			}
			earned := "0"
			for _, total := range tally.BuildStatement().Totals {
				earned = total.Amount.String()
			}
			expectEqual(t, earned, row.earns, "its supplier earns")
			time.Sleep(time.Second)
			x.others(5000)
			if _, known := x.state.Lead(lost.Lead); known {
				t.Error("it is in memory for ever")
			}
		})
	}
}

// others sends so many leads that every part of memory is looked at.
func (x *exchange) others(leads int) {
	for n := range leads {
		x.drawn.Add(uint64(n % 3)) // so that they come to every shard
		_, _ = x.send(person(100 + n))
	}
}
