package selection

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/market"
)

// countPings returns the number of pings in n auctions.
func countPings(h *BuyerPingHealth, n int, at int64) (pings int) {
	for range n {
		if h.CountAuctionAndShouldPing(at) {
			pings++
		}
	}
	return pings
}

func recordOutcomes(h *BuyerPingHealth, n int, outcome market.BuyerOutcome, at int64) {
	for range n {
		h.RecordOutcome(outcome, at)
	}
}

func TestFailingBuyerIsPingedLessUntilRecovery(t *testing.T) {
	var h BuyerPingHealth
	at := 1_000_000 * second
	rows := []struct {
		name    string
		times   int
		outcome market.BuyerOutcome
		after   int64 // time until the next auctions
		pings   int   // of 100
	}{
		{"new", 0, 0, 0, 100},
		{"five failures", 5, market.OutcomeTimeout, 0, 100},
		{"the sixth", 1, market.OutcomeError, 0, 100},
		{"the seventh", 1, market.OutcomeInvalid, 0, 90},
		{"many", 100, market.OutcomeTimeout, 0, 10},
		{"rate limited: not counted", 100, market.OutcomeRateLimited, 0, 10},
		{"not pinged: not counted", 100, market.OutcomeUnhealthy, 0, 10},
		{"one good answer", 1, market.OutcomeNoBid, 0, 40},
		{"five in a row", 4, market.OutcomeNone, 0, 100},
		{"many failures again", 100, market.OutcomeLate, 0, 10},
		{"29 seconds of silence", 0, 0, 29 * second, 10},
		{"another failure", 1, market.OutcomeTimeout, 29 * second, 10},
		{"30 seconds of silence", 0, 0, 30 * second, 100},
		{"a failure after 30 seconds", 1, market.OutcomeTimeout, 0, 90},
		{"a year", 0, 0, 365 * 24 * 3600 * second, 100},
	}
	for _, row := range rows {
		recordOutcomes(&h, row.times, row.outcome, at)
		at += row.after
		if got := countPings(&h, 100, at); got < row.pings-5 || got > row.pings+5 {
			t.Errorf("%s: %d pings in 100 auctions, want about %d", row.name, got, row.pings)
		}
	}
}

func TestOccasionalFailuresKeepAllPings(t *testing.T) {
	var h BuyerPingHealth
	for i := range 1000 {
		outcome := market.OutcomeNone
		if i%3 == 0 {
			outcome = market.OutcomeTimeout
		}
		h.RecordOutcome(outcome, int64(i)*second)
		if !h.CountAuctionAndShouldPing(int64(i) * second) {
			t.Fatal("a buyer that answers two of three pings is not pinged")
		}
	}
}

// After any outcomes at any times, one of ten auctions pings the buyer. After good answers
// alone, all auctions soon ping it again.
func TestUnhealthyBuyerIsPingedAndRecovers(t *testing.T) {
	outcomes := make([]market.BuyerOutcome, market.OutcomeCount)
	for i := range outcomes {
		outcomes[i] = market.BuyerOutcome(i)
	}
	rapid.Check(t, func(t *rapid.T) {
		var h BuyerPingHealth
		at, skipped := rapid.Int64Range(-second, 1<<61).Draw(t, "at"), 0
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			at += rapid.SampledFrom([]int64{0, 1, second, 31 * second, -second}).Draw(t, "later")
			recordOutcomes(&h, rapid.IntRange(0, 9).Draw(t, "times"), rapid.SampledFrom(outcomes).Draw(t, "outcome"), at)
			if share := h.PingsPerTenAuctions(at); share < 1 || share > 10 {
				t.Fatalf("share %d", share)
			}
			if skipped++; h.CountAuctionAndShouldPing(at) {
				skipped = 0
			}
			if skipped >= 10 {
				t.Fatalf("%d auctions in a row without a ping", skipped)
			}
		}
		auctions := 0
		for ; h.PingsPerTenAuctions(at) < 10; auctions++ {
			if h.CountAuctionAndShouldPing(at) {
				h.RecordOutcome(market.OutcomeNoBid, at)
			}
		}
		if auctions > 30 {
			t.Fatalf("recovery took %d auctions, want at most 30", auctions)
		}
	})
}

func TestConcurrentAuctionsPingOneInTen(t *testing.T) {
	var h BuyerPingHealth
	recordOutcomes(&h, 100, market.OutcomeTimeout, second)
	var pings atomic.Int64
	var auctions sync.WaitGroup
	for range 8 {
		auctions.Go(func() {
			for range 1000 {
				if h.CountAuctionAndShouldPing(second) {
					pings.Add(1)
					h.RecordOutcome(market.OutcomeTimeout, second)
				}
			}
		})
	}
	auctions.Wait()
	if got := pings.Load(); got != 800 {
		t.Errorf("%d pings in 8000 auctions, want 800", got)
	}
}

// The documentation of BuyerPingHealth has this number.
func TestRecoveryTakesFiveGoodAnswers(t *testing.T) {
	var h BuyerPingHealth
	at := 5 * int64(time.Hour)
	recordOutcomes(&h, 1000, market.OutcomeTimeout, at)
	answered := 0
	for h.PingsPerTenAuctions(at) < 10 {
		h.RecordOutcome(market.OutcomeLost, at)
		answered++
	}
	if answered != 5 {
		t.Errorf("recovery took %d good answers, want 5", answered)
	}
}
