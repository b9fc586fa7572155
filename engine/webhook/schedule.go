package webhook

import (
	"encoding/binary"
	"time"

	"pingpost/engine/state"
)

// attemptPauses are the pauses between attempts to deliver a webhook. The first is a minute, and
// each later one is six times as long, except for the last. Their sum is 20 h 19 min, and at most
// 22 h 21 min with jitter. So all six attempts are within 24 hours, with an hour and a half left
// for attempts that wait for a free connection.
var attemptPauses = [...]time.Duration{
	1 * time.Minute, 6 * time.Minute, 36 * time.Minute, 3*time.Hour + 36*time.Minute, 16 * time.Hour,
}

// MaxAttempts is the number of attempts after which a webhook becomes a dead letter.
const MaxAttempts = len(attemptPauses) + 1

// switchOffAfter is the time after which a failing endpoint is switched off, if it accepts no
// webhook meanwhile.
const switchOffAfter = 5 * 24 * time.Hour

// NextAttemptTime returns the time of a webhook's next attempt, in Unix nanoseconds. failedAttempts
// is the number of failed attempts; the last one failed at failedAtNanos. hasNext is false if the
// schedule has no further attempt. The pause has random jitter from readRandom.
func NextAttemptTime(failedAttempts uint32, failedAtNanos int64, readRandom func([]byte)) (dueNanos int64, hasNext bool) {
	if int(failedAttempts) >= MaxAttempts {
		return 0, false
	}
	var random [8]byte
	readRandom(random[:])
	return failedAtNanos + int64(VaryByUpToTenth(PauseAfterAttempt(int(max(1, failedAttempts))), random)), true
}

// PauseAfterAttempt returns the pause after a failed attempt, without jitter. The first attempt
// has number 1. It panics for MaxAttempts, because no attempt follows.
func PauseAfterAttempt(attemptNumber int) time.Duration { return attemptPauses[attemptNumber-1] }

// VaryByUpToTenth lengthens or shortens a pause by up to a tenth, so that webhooks that failed
// together are not sent together again.
func VaryByUpToTenth(pause time.Duration, random [8]byte) time.Duration {
	spread := uint64(pause / 5)
	return pause - pause/10 + time.Duration(binary.LittleEndian.Uint64(random[:])%(spread+1))
}

// ShouldSwitchOffWebhooks reports whether a supplier's webhooks must be switched off, because its
// endpoint has failed for five days. It is false if they are off already.
func ShouldSwitchOffWebhooks(outbox state.OutboxStatus, nowNanos int64) bool {
	return !outbox.Off && outbox.FailingSince != 0 && nowNanos-outbox.FailingSince >= int64(switchOffAfter)
}
