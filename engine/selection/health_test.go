package selection

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/market"
)

// of is how many of n calls ask.
func of(h *BuyerPingHealth, n int, at int64) (asked int) {
	for range n {
		if h.CountAuctionAndShouldPing(at) {
			asked++
		}
	}
	return asked
}

func answer(h *BuyerPingHealth, n int, outcome market.BuyerOutcome, at int64) {
	for range n {
		h.RecordOutcome(outcome, at)
	}
}

func TestABuyerThatFailsIsAskedLessAndComesBack(t *testing.T) {
	var h BuyerPingHealth
	at := 1_000_000 * second
	rows := []struct {
		name    string
		times   int
		outcome market.BuyerOutcome
		after   int64 // how much later the next auctions are
		asked   int   // of 100
	}{
		{"new", 0, 0, 0, 100},
		{"five failures", 5, market.OutcomeTimeout, 0, 100},
		{"the sixth", 1, market.OutcomeError, 0, 100},
		{"the seventh", 1, market.OutcomeInvalid, 0, 90},
		{"many", 100, market.OutcomeTimeout, 0, 10},
		{"limited: says nothing", 100, market.OutcomeRateLimited, 0, 10},
		{"not asked: says nothing", 100, market.OutcomeUnhealthy, 0, 10},
		{"one good answer", 1, market.OutcomeNoBid, 0, 40},
		{"five in a row", 4, market.OutcomeNone, 0, 100},
		{"many failures again", 100, market.OutcomeLate, 0, 10},
		{"29 seconds of silence", 0, 0, 29 * second, 10},
		{"a failure confirms it", 1, market.OutcomeTimeout, 29 * second, 10},
		{"30 seconds of silence", 0, 0, 30 * second, 100},
		{"another failure after them", 1, market.OutcomeTimeout, 0, 90},
		{"a year", 0, 0, 365 * 24 * 3600 * second, 100},
	}
	for _, row := range rows {
		answer(&h, row.times, row.outcome, at)
		at += row.after
		if got := of(&h, 100, at); got < row.asked-5 || got > row.asked+5 {
			t.Errorf("%s: asked %d times of 100, want about %d", row.name, got, row.asked)
		}
	}
}

func TestAnOddFailureCostsNothing(t *testing.T) {
	var h BuyerPingHealth
	for i := range 1000 {
		outcome := market.OutcomeNone
		if i%3 == 0 {
			outcome = market.OutcomeTimeout
		}
		h.RecordOutcome(outcome, int64(i)*second)
		if !h.CountAuctionAndShouldPing(int64(i) * second) {
			t.Fatal("a buyer that answers two pings of three is not asked")
		}
	}
}

// Whatever it answered, and whenever: of ten calls one asks, and a buyer that is
// well from some moment on is soon asked every time.
func TestNeverLessThanOneInTenAndBackByItself(t *testing.T) {
	outcomes := make([]market.BuyerOutcome, market.OutcomeCount)
	for i := range outcomes {
		outcomes[i] = market.BuyerOutcome(i)
	}
	rapid.Check(t, func(t *rapid.T) {
		var h BuyerPingHealth
		at, skipped := rapid.Int64Range(-second, 1<<61).Draw(t, "at"), 0
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			at += rapid.SampledFrom([]int64{0, 1, second, 31 * second, -second}).Draw(t, "later")
			answer(&h, rapid.IntRange(0, 9).Draw(t, "times"), rapid.SampledFrom(outcomes).Draw(t, "outcome"), at)
			if share := h.PingsPerTenAuctions(at); share < 1 || share > 10 {
				t.Fatalf("share %d", share)
			}
			if skipped++; h.CountAuctionAndShouldPing(at) {
				skipped = 0
			}
			if skipped >= 10 {
				t.Fatalf("%d times in a row not asked", skipped)
			}
		}
		auctions := 0
		for ; h.PingsPerTenAuctions(at) < 10; auctions++ {
			if h.CountAuctionAndShouldPing(at) {
				h.RecordOutcome(market.OutcomeNoBid, at)
			}
		}
		if auctions > 30 {
			t.Fatalf("well again, it took %d auctions to come back", auctions)
		}
	})
}

func TestOneInTenHoldsSideBySide(t *testing.T) {
	var h BuyerPingHealth
	answer(&h, 100, market.OutcomeTimeout, second)
	var asked atomic.Int64
	var calling sync.WaitGroup
	for range 8 {
		calling.Go(func() {
			for range 1000 {
				if h.CountAuctionAndShouldPing(second) {
					asked.Add(1)
					h.RecordOutcome(market.OutcomeTimeout, second)
				}
			}
		})
	}
	calling.Wait()
	if got := asked.Load(); got != 800 {
		t.Errorf("asked %d times of 8000", got)
	}
}

// The figure of the comment: from full failure back to every auction, by good
// answers alone.
func TestHowLongARecoveryTakes(t *testing.T) {
	var h BuyerPingHealth
	at := 5 * int64(time.Hour)
	answer(&h, 1000, market.OutcomeTimeout, at)
	answered := 0
	for h.PingsPerTenAuctions(at) < 10 {
		h.RecordOutcome(market.OutcomeLost, at)
		answered++
	}
	if answered != 5 {
		t.Errorf("%d good answers", answered)
	}
}
