package route

import (
	"sync/atomic"
	"time"

	"pingpost/engine/market"
)

// Health is how a buyer has lately answered pings, and decides whether the next
// auction asks it. A buyer that hangs makes every auction that asks it last to
// the deadline, so one that keeps failing is asked less. The zero Health is a
// buyer in good health.
//
// The rule. A score from none to whole says how much of what was asked failed:
// each answer moves it an eighth of the way, a failure towards whole, anything
// else towards none. Up to half the buyer is asked every time; seven failures
// in a row lead past that, one in three does not. Beyond half it is asked the
// less the higher the score is, down to one time in ten.
//
// It comes back by itself, in two ways. Good answers to what it is still asked
// bring the score down, and with it more questions: five undo any failure. And
// what no answer has confirmed for a while counts less: the score that was found
// at the last answer halves with every thirty seconds since, so that a buyer of
// few leads need not wait for ten of them.
//
// What always holds: of any ten calls of Ask in a row at least one is true, at
// any concurrency, and while the score is at most half all of them are. No
// chance is involved: each call adds the share that is to be asked, in tenths,
// to a counter, and asks where that passes a full ten.
//
// Rejected: a breaker that is open or shut. It has to be told how long to stay
// open, asks nobody meanwhile, and then asks everybody at once.
type Health struct {
	// last is the score in the lower 16 bits and, above, when it was found, in
	// Unix milliseconds: one word, so that the two never part.
	last   atomic.Uint64
	tenths atomic.Uint64
}

const (
	scoreBits = 16
	whole     = 1<<scoreBits - 1
	half      = whole / 2

	full     = 10 // tenths
	scoreAge = int64(30 * time.Second / time.Millisecond)
)

// Ask tells whether the buyer is to be asked now, at a time in Unix
// nanoseconds.
func (h *Health) Ask(at int64) bool {
	share := h.Share(at)
	if share == full {
		return true
	}
	after := h.tenths.Add(share)
	return after/full != (after-share)/full
}

// Share is in how many of ten auctions the buyer is asked: 1 to 10.
func (h *Health) Share(at int64) uint64 {
	score := scoreAt(h.last.Load(), at)
	if score <= half {
		return full
	}
	return full - (full-1)*(score-half)/(whole-half)
}

// Answered notes what a ping came to, at a time in Unix nanoseconds. What says
// nothing of the buyer's health is passed over: that it limits us, and every
// outcome of a buyer that was not asked.
func (h *Health) Answered(outcome market.Outcome, at int64) {
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
		last := h.last.Load()
		score := scoreAt(last, at)
		if failed {
			score += (whole - score + 7) / 8
		} else {
			score -= (score + 7) / 8
		}
		found := max(uint64(max(at, 0))/uint64(time.Millisecond), last>>scoreBits)
		if h.last.CompareAndSwap(last, found<<scoreBits|score) {
			return
		}
	}
}

// scoreAt is the score as it counts at a time, in Unix nanoseconds. A time
// before the last answer, as calls side by side may have it, is that answer's.
func scoreAt(last uint64, at int64) uint64 {
	score, age := last&whole, at/int64(time.Millisecond)-int64(last>>scoreBits)
	if age < scoreAge {
		return score
	}
	return score >> min(age/scoreAge, scoreBits)
}
