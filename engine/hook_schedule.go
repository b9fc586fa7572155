package engine

import (
	"encoding/binary"
	"time"
)

// hookGaps are the pauses between two attempts to tell of an event: the second
// attempt is a minute after the first, and each later pause about six times as
// long, but for the last. They come to 20 h 19 min. Jitter of a tenth makes that
// 22 h 21 min at most, so that all six attempts lie inside 24 hours with an hour
// and a half to spare for attempts that have to wait for their place.
var hookGaps = [...]time.Duration{
	1 * time.Minute, 6 * time.Minute, 36 * time.Minute, 3*time.Hour + 36*time.Minute, 16 * time.Hour,
}

// hookAttempts is how many attempts an event has before it is a dead letter.
const hookAttempts = len(hookGaps) + 1

// hookPatience is how long an endpoint may fail without one event delivered
// before its webhooks are switched off.
const hookPatience = 5 * 24 * time.Hour

// jittered spreads a pause over a tenth of it to either side: what failed together
// is not to come together again.
func jittered(gap time.Duration, random [8]byte) time.Duration {
	spread := uint64(gap / 5)
	return gap - gap/10 + time.Duration(binary.LittleEndian.Uint64(random[:])%(spread+1))
}

// nextTry is when an event is tried again, in Unix nanoseconds, after so many
// attempts of which the last one failed at now; false: it has had them all.
func (e *Engine) nextTry(attempts uint32, now int64) (due int64, more bool) {
	if int(attempts) >= hookAttempts {
		return 0, false
	}
	var random [8]byte
	e.opt.Entropy(random[:])
	return now + int64(jittered(hookGaps[max(1, attempts)-1], random)), true
}
