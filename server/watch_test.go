package server

import (
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"pgregory.net/rapid"

	"pingpost/engine"
	"pingpost/engine/market"
)

func quietMeter() *Meter { return NewMeter(metrics.NewSet(), func(string, error) {}) }

// TestWatchTellsWhatWasLately: a trade as steady as a clock, and what is told of it
// while there is not enough yet, when the ring is full, and after the trade has ended.
func TestWatchTellsWhatWasLately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := quietMeter()
		w := newWatch(m)
		go w.run()
		defer w.end()
		blue := &market.Buyer{ID: "buy_blue"}
		second := func() { // of which a third is sold
			time.Sleep(time.Second)
			m.Decided(nil, nil, &engine.Answer{Accepted: true})
			m.Decided(nil, nil, &engine.Answer{Reason: market.ReasonNoBid})
			m.Decided(nil, nil, &engine.Answer{Reason: market.ReasonCapsFull})
			m.Decided(nil, nil, &engine.Answer{Accepted: true, Test: true})
			m.Posted("buy_blue", &market.PostResult{Verdict: market.VerdictAccepted})
			m.Held(nil, nil, &engine.Held{Elapsed: 4e6, Pings: []engine.Pinged{{Buyer: blue, Outcome: market.OutcomeWon, Elapsed: 3e6}}})
		}
		for range 3 {
			second()
		}
		if g := w.look(time.Now()); g.now.leads-g.second.leads != 9 || g.now.at.Sub(g.second.at) != 3*time.Second || len(g.steps) != 0 {
			t.Errorf("after three seconds: %d leads in %s, %d steps", g.now.leads-g.second.leads, g.now.at.Sub(g.second.at), len(g.steps))
		}
		for range 22 * 60 {
			second()
		}
		g := w.look(time.Now())
		for _, span := range []struct {
			then  reading
			least time.Duration
		}{{g.second, 10 * time.Second}, {g.minute, time.Minute}, {g.whole, 10 * time.Minute}} {
			took := g.now.at.Sub(span.then.at)
			if took < span.least || took >= span.least+watchStep {
				t.Errorf("%s for a span of %s", took, span.least)
			}
			// A reading may lie at either side of a trade of the same instant.
			if leads := perSecond(g.now.leads, span.then.leads, took); math.Abs(leads-3) > 0.31 {
				t.Errorf("%f leads a second over %s", leads, took)
			}
			if sold := perSecond(g.now.sold, span.then.sold, took); math.Abs(sold-1) > 0.11 {
				t.Errorf("%f sold a second over %s", sold, took)
			}
		}
		if len(g.steps) != watchedSteps {
			t.Fatalf("%d steps", len(g.steps))
		}
		for i, s := range g.steps[1:] {
			if s.at.Sub(g.steps[i].at) != watchStep || s.leads < 12 || s.leads > 18 || s.sold < 4 || s.sold > 6 || s.pings < 4 || s.pings > 6 {
				t.Fatalf("step %d: %+v", i+1, s)
			}
		}
		now, then := g.buyersNow["buy_blue"], g.buyersThen["buy_blue"]
		if lately := now.since(&then); lately.asked < 570 || lately.asked > 601 || lately.wins != lately.asked || lately.bids != lately.asked || lately.posts != lately.asked || health(&lately) != "good" {
			t.Errorf("%+v", lately)
		}
		time.Sleep(11 * time.Minute)
		g = w.look(time.Now())
		now, then = g.buyersNow["buy_blue"], g.buyersThen["buy_blue"]
		if lately := now.since(&then); g.now.leads != g.whole.leads || health(&lately) != "idle" || quantileOf(&lately.pings, 0.5) != nil {
			t.Errorf("long after: %d leads, %+v", g.now.leads-g.whole.leads, lately)
		}
	})
}

// TestSellersPostsAreCounted: once each, and what is no lead is none.
func TestSellersPostsAreCounted(t *testing.T) {
	m := quietMeter()
	sold, refused := &engine.SaleAnswer{}, &engine.Refusal{Code: engine.PostRejected}
	m.postedBySeller(sold, nil, false)
	m.postedBySeller(sold, nil, true)
	m.postedBySeller(&engine.SaleAnswer{Replayed: true}, nil, false)
	m.postedBySeller(nil, refused, false)
	m.postedBySeller(nil, &engine.Refusal{Code: engine.PostRejected, Replayed: true}, false)
	m.postedBySeller(nil, &engine.Refusal{Code: engine.InvalidPayload}, false)
	m.postedBySeller(nil, engine.ErrUnavailable, false)
	if r := m.read(time.Now()); r.leads != 2 || r.sold != 1 {
		t.Errorf("%d leads, %d sold", r.leads, r.sold)
	}
}

// TestHealth: what makes a buyer slow and what makes it fail, at the very edge.
func TestHealth(t *testing.T) {
	pings := func(n uint64, elapsed int64) (c lapCounts) {
		var h lapHistogram
		h.add(elapsed)
		c = h.counts()
		for i := range c {
			c[i] *= n
		}
		return c
	}
	for want, all := range map[string][]buyerReading{
		"idle":    {{}},
		"good":    {{asked: 100, timeouts: 4, pings: pings(100, 20e6)}, {posts: 100, failed: 4}, {asked: 3, bids: 0}},
		"slow":    {{asked: 100, timeouts: 5}, {asked: 100, timeouts: 2, errors: 3}, {posts: 100, failed: 5}, {asked: 10, pings: pings(10, 1500e6)}},
		"failing": {{asked: 100, timeouts: 50}, {asked: 1, errors: 1}, {asked: 100, posts: 2, failed: 1}},
	} {
		for _, lately := range all {
			if got := health(&lately); got != want {
				t.Errorf("%+v: %s, want %s", lately, got, want)
			}
		}
	}
}

// TestEveryPingIsABidOrNone: of the outcomes that a ping may come to.
func TestEveryPingIsABidOrNone(t *testing.T) {
	b := newBuyerMeter(metrics.NewSet(), "b")
	for outcome := range market.Outcome(market.Outcomes) {
		b.answered(outcome, 1e6)
	}
	if r := b.read(); r.asked != uint64(market.Outcomes) || r.bids != 6 || r.wins != 1 || r.timeouts != 2 || r.errors != 2 {
		t.Errorf("%+v", r)
	}
}

// TestQuantile: it is in the bucket that the true one is in.
func TestQuantile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		took := rapid.SliceOfN(rapid.Int64Range(0, 12_000_000_000), 1, 200).Draw(t, "took")
		share := rapid.SampledFrom([]float64{0.5, 0.9, 0.99, 1}).Draw(t, "share")
		var h lapHistogram
		for _, d := range took {
			h.add(d)
		}
		c := h.counts()
		got, ok := c.quantile(share)
		if !ok {
			t.Fatal("nothing was counted")
		}
		slices.Sort(took)
		exact := took[int(math.Ceil(share*float64(len(took))))-1]
		lower, upper := int64(0), lapBounds[len(lapBounds)-1]
		for _, bound := range lapBounds {
			if exact <= bound {
				upper = bound
				break
			}
			lower = bound
		}
		if at := int64(math.Round(got * 1e6)); at < lower || at > upper {
			t.Fatalf("%d, and %d is between %d and %d", at, exact, lower, upper)
		}
	})
	if _, ok := new(lapCounts).quantile(0.5); ok {
		t.Error("a quantile of nothing")
	}
}
