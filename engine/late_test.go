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

// Resolving an old delivery must not change the duplicate claim of a newer lead.
func TestLateSettlementKeepsNewerDuplicateClaim(t *testing.T) {
	for _, how := range []event.PostSettlement{event.SettledConfirmed, event.SettledReleased} {
		runInVirtualTime(t, how.String(), func(t *testing.T) {
			hour := anyOf
			hour.Window = int64(time.Hour)
			r := marketOf(market.Waterfall, buyer{id: "blue", postEndpoint: true})
			r.campaigns[0].duplicates = hour
			x := newExchange(t, r)
			x.buyers.scriptPosts("blue", serverError)
			old, _ := x.ingest(leadRequest(1))
			time.Sleep(2 * time.Hour)
			x.buyers.scriptPosts("blue", accepts)
			expectEqual(t, x.ingestResult(leadRequest(1)), "blue", "two hours later")
			must.Succeed(t, x.engine.AsOperator("").ResolveUnconfirmedDelivery(old.Lead, how))
			expectEqual(t, x.ingestResult(leadRequest(1)), "duplicate", "right after the newer lead")
		})
	}
}

// After a restart no retry is later than on the schedule.
func TestRetryAfterClockWentBack(t *testing.T) {
	runWithExchange(t, "", marketOf(market.Waterfall, buyer{id: "blue", postEndpoint: true}), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", serverError, serverError, serverError, accepts)
		s := x.startIngest(leadRequest(1))
		s.wait()
		time.Sleep(500 * ms)
		offset := -48 * time.Hour
		x.setOptions = func(o *engine.Options) { o.Clock = shiftedClock{offset: offset} }
		x.crashAndRestart()
		time.Sleep(time.Minute)
		if got := strings.Join(x.buyers.postAttempts(), " "); !strings.HasPrefix(got, "blue@0s blue@1s blue@3s blue@7.5s") {
			t.Errorf("attempts %s", got)
		}
	})
}

// Sales before the buyer was prepaid do not reduce its balance.
func TestOpeningBalanceIgnoresEarlierSales(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := marketOf(market.Waterfall, buyer{id: "blue"})
		x := newExchange(t, r)
		for i := range 10 {
			x.ingestResult(leadRequest(i))
		}
		r.buyers = []buyer{{id: "blue", funds: "50"}}
		x.configure(r)
		for i, want := range []string{"blue", "blue", "blue", "blue", "blue", "insufficient_funds"} {
			expectEqual(t, x.ingestResult(leadRequest(100+i)), want, "lead ", i)
		}
	})
}

// shiftedClock is a clock with an offset.
type shiftedClock struct {
	virtualClock
	offset time.Duration
}

func (c shiftedClock) Now() int64 { return c.virtualClock.Now() + int64(c.offset) }

// An unconfirmed lead stays in memory until it is resolved, because only memory has its supplier
// and its payout.
func TestUnconfirmedDeliveriesStayInMemory(t *testing.T) {
	for _, row := range []struct {
		name      string
		settle    func(x *testExchange, a engine.IngestAnswer) string
		leadState string
		tells     string
		earns     string
	}{
		{"confirmed", func(x *testExchange, a engine.IngestAnswer) string {
			return describeError(x.engine.AsOperator("").ResolveUnconfirmedDelivery(a.Lead, event.SettledConfirmed))
		}, "ACCEPTED confirmed", "lead.posted", "8"},
		{"released", func(x *testExchange, a engine.IngestAnswer) string {
			return describeError(x.engine.AsOperator("").ResolveUnconfirmedDelivery(a.Lead, event.SettledReleased))
		}, "UNMATCHED released post_rejected", "lead.post_failed", "0"},
		{"reported", func(x *testExchange, a engine.IngestAnswer) string {
			x.reportResult(newReport(a, "sold"))
			return "ok"
		}, "sold confirmed", "lead.posted", "8"},
	} {
		runInVirtualTime(t, row.name, func(t *testing.T) {
			r := withWebhooks(returnsMarket(returnRule(nil)))
			r.buyers[0].postEndpoint = true
			x := newExchange(t, r)
			x.buyers.scriptPosts("blue", serverError)
			lost := x.soldLead(1)
			time.Sleep(5 * time.Minute)
			x.buyers.scriptPosts("blue", refuses)
			time.Sleep(60 * day)
			x.expireLeadsBeside(lost.Lead)
			time.Sleep(time.Second)
			from := time.Now()
			expectEqual(t, row.settle(x, lost), "ok")
			expectEqual(t, x.leadState(lost), row.leadState, "lead state")
			if !slices.Contains(x.requiredWebhooks(), row.tells+" "+lost.Lead.String()) {
				t.Error("the supplier gets no webhook")
			}
			period := ledger.Period{From: from.UnixNano(), To: time.Now().Add(time.Second).UnixNano()}
			tally := ledger.NewStatementBuilder(ledger.Party{Kind: event.ObjectSupplier, Ref: x.lead(lost).Supplier}, period, x.state.AppliedBuyerFunds(0))
			for i, record := range decodeAll(t, x.log.durable()) {
				tally.AddEvent(uint64(i+1), x.log.entries[i].at, record)
			}
			earned := "0"
			for _, total := range tally.BuildStatement().Totals {
				earned = total.Amount.String()
			}
			expectEqual(t, earned, row.earns, "the supplier's payout")
			time.Sleep(time.Second)
			x.expireLeadsBeside(lost.Lead)
			if _, known := x.state.LeadInMemory(lost.Lead); known {
				t.Error("the resolved lead stays in memory")
			}
		})
	}
}

// expireLeadsBeside ingests other leads into the lead's shard, because each new row removes a few
// expired ones.
func (x *testExchange) expireLeadsBeside(lead market.LeadID) {
	x.shardSuffix = lead[14:]
	for n := range 100 {
		_, _ = x.ingest(leadRequest(100 + n))
	}
	x.shardSuffix = nil
}
