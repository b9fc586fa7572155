package metrics

import (
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"pgregory.net/rapid"

	"pingpost/engine"
	"pingpost/engine/auction"
	"pingpost/engine/market"
)

func quietMeter() *Meter { return NewMeter(func(string, error) {}) }

// TestSaleCountsWhenItSettles: an accepted lead without its buyer's confirmation is no sale yet.
func TestSaleCountsWhenItSettles(t *testing.T) {
	m := quietMeter()
	sold := func() (exchange, buyer uint64) {
		return m.readCountersWithoutBuyers(time.Now()).Sold, m.readBuyers()["buy_blue"].Sales
	}
	m.LeadDecided(nil, nil, &engine.IngestAnswer{Accepted: true, Unsettled: true, Buyer: "buy_blue"})
	if all, blue := sold(); all != 0 || blue != 0 || m.readCountersWithoutBuyers(time.Now()).Leads != 1 || m.ReadTradeCounts().Sold != 0 {
		t.Errorf("an unconfirmed delivery counts as %d and %d sales", all, blue)
	}
	m.SaleSettled("buy_blue")
	m.LeadDecided(nil, nil, &engine.IngestAnswer{Accepted: true, Buyer: "buy_blue"})
	if all, blue := sold(); all != 2 || blue != 2 || m.readCountersWithoutBuyers(time.Now()).Leads != 2 || m.ReadTradeCounts().Sold != 2 {
		t.Errorf("two settled sales count as %d and %d", all, blue)
	}
}

// The test checks the summary of steady traffic: with few samples, with a full ring, and
// after the traffic has ended.
func TestHistoryOfSteadyTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := quietMeter()
		w := NewMeterHistory(m)
		go w.Run()
		defer w.Stop()
		blue := &market.Buyer{ID: "buy_blue"}
		addSecond := func() { // three leads, one of them sold
			time.Sleep(time.Second)
			m.LeadDecided(nil, nil, &engine.IngestAnswer{Accepted: true})
			m.LeadDecided(nil, nil, &engine.IngestAnswer{Reason: market.ReasonNoBid})
			m.LeadDecided(nil, nil, &engine.IngestAnswer{Reason: market.ReasonCapsFull})
			m.LeadDecided(nil, nil, &engine.IngestAnswer{Accepted: true, Test: true})
			m.PostAttempted("buy_blue", &market.BuyerPostResult{Verdict: market.VerdictAccepted})
			m.AuctionHeldOrSkipped(nil, nil, &auction.AuctionOutcomeSummary{Elapsed: 4e6, Pings: []auction.BuyerPingOutcome{{Buyer: blue, Outcome: market.OutcomeWon, Elapsed: 3e6}}})
		}
		for range 3 {
			addSecond()
		}
		if g := w.ReadNowAndEarlier(time.Now()); g.Now.Leads-g.TenSecondsAgo.Leads != 9 || g.Now.At.Sub(g.TenSecondsAgo.At) != 3*time.Second || len(g.Intervals) != 0 {
			t.Errorf("after three seconds: %d leads in %s, %d intervals", g.Now.Leads-g.TenSecondsAgo.Leads, g.Now.At.Sub(g.TenSecondsAgo.At), len(g.Intervals))
		}
		for range 22 * 60 {
			addSecond()
		}
		g := w.ReadNowAndEarlier(time.Now())
		for _, span := range []struct {
			then  MeterReading
			least time.Duration
		}{{g.TenSecondsAgo, 10 * time.Second}, {g.MinuteAgo, time.Minute}, {g.TenMinutesAgo, 10 * time.Minute}} {
			took := g.Now.At.Sub(span.then.At)
			if took < span.least || took >= span.least+historyStep {
				t.Errorf("the reading is %s old, want %s", took, span.least)
			}
			// A sample may precede or follow a lead of the same instant.
			if leads := RatePerSecond(g.Now.Leads, span.then.Leads, took); math.Abs(leads-3) > 0.31 {
				t.Errorf("%f leads per second over %s, want 3", leads, took)
			}
			if sold := RatePerSecond(g.Now.Sold, span.then.Sold, took); math.Abs(sold-1) > 0.11 {
				t.Errorf("%f sold leads per second over %s, want 1", sold, took)
			}
		}
		if len(g.Intervals) != historySteps {
			t.Fatalf("%d intervals", len(g.Intervals))
		}
		for i, s := range g.Intervals[1:] {
			if s.At.Sub(g.Intervals[i].At) != historyStep || s.Leads < 12 || s.Leads > 18 || s.Sold < 4 || s.Sold > 6 || s.Pings < 4 || s.Pings > 6 {
				t.Fatalf("interval %d: %+v", i+1, s)
			}
		}
		now, then := g.BuyersNow["buy_blue"], g.BuyersTenMinutesAgo["buy_blue"]
		if last := now.IncreaseSince(&then); last.Asked < 570 || last.Asked > 601 || last.Wins != last.Asked || last.Bids != last.Asked || last.Posts != last.Asked || RateBuyerHealth(&last) != "good" {
			t.Errorf("%+v", last)
		}
		time.Sleep(11 * time.Minute)
		g = w.ReadNowAndEarlier(time.Now())
		now, then = g.BuyersNow["buy_blue"], g.BuyersTenMinutesAgo["buy_blue"]
		last := now.IncreaseSince(&then)
		if _, found := last.Pings.Quantile(0.5); g.Now.Leads != g.TenMinutesAgo.Leads || RateBuyerHealth(&last) != "idle" || found {
			t.Errorf("after the traffic ended: %d leads, %+v", g.Now.Leads-g.TenMinutesAgo.Leads, last)
		}
	})
}

// TestBuyerHealthThresholds checks the thresholds of slow and failing buyers.
func TestBuyerHealthThresholds(t *testing.T) {
	pings := func(n uint64, elapsed int64) (c HistogramCounts) {
		var h durationHistogram
		h.add(elapsed)
		c = h.bucketCounts()
		for i := range c {
			c[i] *= n
		}
		return c
	}
	for want, all := range map[string][]BuyerReading{
		"idle": {{}},
		"good": {
			{Asked: 100, Timeouts: 4, Pings: pings(100, 20e6)},
			{Posts: 100, failed: 4},
			{Asked: 3, Bids: 0},
			{Asked: 19, Timeouts: 1},
			{Posts: 19, failed: 1},
			{Asked: 19, Pings: pings(19, 1500e6)}, // too few answers
		},
		"slow": {
			{Asked: 100, Timeouts: 5},
			{Asked: 100, Timeouts: 2, errors: 3},
			{Posts: 100, failed: 5},
			{Asked: 20, Timeouts: 1},
			{Posts: 20, failed: 1},
			{Asked: 20, Pings: pings(20, 1500e6)},
		},
		"failing": {{Asked: 100, Timeouts: 50}, {Asked: 1, errors: 1}, {Asked: 100, Posts: 2, failed: 1}},
	} {
		for _, last := range all {
			if got := RateBuyerHealth(&last); got != want {
				t.Errorf("%+v: %s, want %s", last, got, want)
			}
		}
	}
}

// TestPingOutcomesAreCounted checks how each outcome of a ping counts.
func TestPingOutcomesAreCounted(t *testing.T) {
	b := newBuyerMeter(metrics.NewSet(), "b")
	for outcome := range market.BuyerOutcome(market.OutcomeCount) {
		b.countPing(outcome, 1e6)
	}
	if r := b.currentReading(); r.Asked != uint64(market.OutcomeCount) || r.Bids != 6 || r.Wins != 1 || r.Timeouts != 2 || r.errors != 2 {
		t.Errorf("%+v", r)
	}
}

// The estimated quantile is in the same bucket as the exact one.
func TestQuantileIsInBucketOfExactValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		took := rapid.SliceOfN(rapid.Int64Range(0, 12_000_000_000), 1, 200).Draw(t, "took")
		share := rapid.SampledFrom([]float64{0.5, 0.9, 0.99, 1}).Draw(t, "share")
		var h durationHistogram
		for _, d := range took {
			h.add(d)
		}
		c := h.bucketCounts()
		got, ok := c.Quantile(share)
		if !ok {
			t.Fatal("no quantile, but durations were counted")
		}
		slices.Sort(took)
		exact := took[int(math.Ceil(share*float64(len(took))))-1]
		lower, upper := int64(0), histogramBounds[len(histogramBounds)-1]
		for _, bound := range histogramBounds {
			if exact <= bound {
				upper = bound
				break
			}
			lower = bound
		}
		if at := int64(math.Round(got * 1e6)); at < lower || at > upper {
			t.Fatalf("got %d, want between %[3]d and %[4]d, the bucket of the exact value %[2]d", at, exact, lower, upper)
		}
	})
	if _, ok := new(HistogramCounts).Quantile(0.5); ok {
		t.Error("got a quantile of an empty histogram")
	}
}
