package selection

import (
	"sync/atomic"
	"time"

	"pingpost/engine/market"
)

// BuyerPingHealth tracks how a buyer answers pings, and decides whether the next auction pings
// it. A buyer that hangs makes every auction with it last until the deadline, so a failing buyer
// is pinged less. The zero BuyerPingHealth is a healthy buyer.
//
// The rule. A score from 0 to 1 estimates the share of failed pings. Each failure moves the score
// by an eighth of the way to 1, and any other answer, except a 429, by an eighth of the way to 0. Up to one
// half, the buyer is pinged in every auction. Above that it is pinged less the higher the score
// is, down to one auction in ten. This begins at the seventh failure in a row; one failure in
// three does not suffice.
//
// The score recovers in two ways. Good answers to the remaining pings lower it; after five in a
// row the buyer is pinged in every auction again. Without answers, the score halves every thirty
// seconds, so that a buyer in few auctions need not wait for ten of them.
//
// Invariants: CountAuctionAndShouldPing is true at least once in any ten calls in a row, at any
// concurrency. It is always true while the score is at most one half. The rule uses no randomness.
// Each call adds the share of pings, in tenths, to a counter, and pings when the counter passes a
// multiple of ten.
//
// Rejected: a circuit breaker. It needs a time to stay open, pings no buyer meanwhile, and then
// pings all at once.
type BuyerPingHealth struct {
	// lastAnswer has the score in the lower 16 bits and its time in Unix milliseconds
	// above: one word, so that both change together.
	lastAnswer atomic.Uint64
	shareSum   atomic.Uint64
}

// AllPings is the result of PingsPerTenAuctions for a healthy buyer.
const AllPings = 10

const (
	scoreBits    = 16
	maxScore     = 1<<scoreBits - 1
	healthyScore = maxScore / 2

	scoreHalfLife = int64(30 * time.Second / time.Millisecond)
)

// CountAuctionAndShouldPing reports whether an auction at this time, in Unix nanoseconds, pings the
// buyer. Each call counts as one auction.
func (h *BuyerPingHealth) CountAuctionAndShouldPing(nowNanos int64) bool {
	share := h.PingsPerTenAuctions(nowNanos)
	if share == AllPings {
		return true
	}
	after := h.shareSum.Add(share)
	return after/AllPings != (after-share)/AllPings
}

// PingsPerTenAuctions returns in how many of ten auctions the buyer is pinged at this time, in Unix
// nanoseconds: 1 to 10.
func (h *BuyerPingHealth) PingsPerTenAuctions(nowNanos int64) (auctionsWithPing uint64) {
	score := decayedFailureScoreAt(h.lastAnswer.Load(), nowNanos)
	if score <= healthyScore {
		return AllPings
	}
	return AllPings - (AllPings-1)*(score-healthyScore)/(maxScore-healthyScore)
}

// RecordOutcome counts the outcome of a ping for the buyer's score. answeredAtNanos is the time of the
// answer, in Unix nanoseconds. OutcomeNone is a valid bid here and counts as a good answer. A rate
// limit does not count, and neither does any outcome of a buyer that was not pinged.
func (h *BuyerPingHealth) RecordOutcome(outcome market.BuyerOutcome, answeredAtNanos int64) {
	failed := false
	switch outcome {
	case market.OutcomeTimeout, market.OutcomeError, market.OutcomeInvalid, market.OutcomeLate:
		failed = true
	case market.OutcomeNone, market.OutcomeWon, market.OutcomeLost, market.OutcomeNoBid,
		market.OutcomeBelowFloor, market.OutcomeWrongCurrency:
	default:
		return
	}
	for {
		last := h.lastAnswer.Load()
		score := decayedFailureScoreAt(last, answeredAtNanos)
		if failed {
			score += (maxScore - score + 7) / 8
		} else {
			score -= (score + 7) / 8
		}
		found := max(uint64(max(answeredAtNanos, 0))/uint64(time.Millisecond), last>>scoreBits)
		if h.lastAnswer.CompareAndSwap(last, found<<scoreBits|score) {
			return
		}
	}
}

// decayedFailureScoreAt returns the score at a time in Unix nanoseconds, from the value of
// BuyerPingHealth.lastAnswer: the score halves every thirty seconds. Concurrent calls may have a
// time before the last answer; for these the score has not decayed.
func decayedFailureScoreAt(scoreAndAnswerTime uint64, nowNanos int64) uint64 {
	score, age := scoreAndAnswerTime&maxScore, nowNanos/int64(time.Millisecond)-int64(scoreAndAnswerTime>>scoreBits)
	if age < scoreHalfLife {
		return score
	}
	return score >> min(age/scoreHalfLife, scoreBits)
}
