package selection

import (
	"sync/atomic"
	"time"

	"pingpost/engine/market"
)

// BuyerPingHealth tracks how a buyer answers pings, and decides whether the next auction pings it.
// A buyer that hangs makes every auction with it last until the deadline, so a failing
// buyer is pinged less. The zero BuyerPingHealth is a healthy buyer.
//
// The rule. A score from zero to whole is the share of failed pings: each answer moves it
// an eighth of the way, a failure towards whole, any other answer towards zero. Up to
// half, the buyer is pinged every time. Seven failures in a row lead past half; one
// failure in three does not. Beyond half the buyer is pinged less with a higher score,
// down to one time in ten.
//
// The score recovers in two ways. Good answers to the remaining pings lower it, and so
// raise the number of pings: five undo any failure. And the score of the last answer
// halves with every thirty seconds since, so that a buyer of few leads need not wait for
// ten of them.
//
// Invariants: of any ten calls of ShouldPing in a row at least one is true, at any
// concurrency, and while the score is at most half all of them are. The rule uses no
// randomness: each call adds the share of pings, in tenths, to a counter, and pings when
// the counter passes a full ten.
//
// Rejected: a circuit breaker. It needs a time to stay open, pings no buyer meanwhile, and
// then pings all at once.
type BuyerPingHealth struct {
	// last has the score in the lower 16 bits and its time in Unix milliseconds
	// above: one word, so that both change together.
	lastAnswer atomic.Uint64
	shareSum   atomic.Uint64
}

const (
	scoreBits    = 16
	maxScore     = 1<<scoreBits - 1
	healthyScore = maxScore / 2

	allPings      = 10 // tenths
	scoreHalfLife = int64(30 * time.Second / time.Millisecond)
)

// ShouldPing reports whether to ping the buyer at a time in Unix nanoseconds.
func (h *BuyerPingHealth) ShouldPing(at int64) bool {
	share := h.PingsPerTen(at)
	if share == allPings {
		return true
	}
	after := h.shareSum.Add(share)
	return after/allPings != (after-share)/allPings
}

// PingsPerTen returns in how many of ten auctions the buyer is pinged: 1 to 10.
func (h *BuyerPingHealth) PingsPerTen(at int64) uint64 {
	score := decayedScoreAt(h.lastAnswer.Load(), at)
	if score <= healthyScore {
		return allPings
	}
	return allPings - (allPings-1)*(score-healthyScore)/(maxScore-healthyScore)
}

// RecordOutcome records the result of a ping at a time in Unix nanoseconds. It ignores
// outcomes that do not concern the buyer's health: a rate limit, and every outcome of a
// buyer that was not pinged.
func (h *BuyerPingHealth) RecordOutcome(outcome market.Outcome, at int64) {
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
		score := decayedScoreAt(last, at)
		if failed {
			score += (maxScore - score + 7) / 8
		} else {
			score -= (score + 7) / 8
		}
		found := max(uint64(max(at, 0))/uint64(time.Millisecond), last>>scoreBits)
		if h.lastAnswer.CompareAndSwap(last, found<<scoreBits|score) {
			return
		}
	}
}

// decayedScoreAt returns the decayed score at a time, in Unix nanoseconds. For a time before the
// last answer, which concurrent calls may have, it returns that answer's score.
func decayedScoreAt(last uint64, at int64) uint64 {
	score, age := last&maxScore, at/int64(time.Millisecond)-int64(last>>scoreBits)
	if age < scoreHalfLife {
		return score
	}
	return score >> min(age/scoreHalfLife, scoreBits)
}
