package engine_test

import (
	"slices"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/ledger"
)

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
