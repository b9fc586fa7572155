package webhook_test

import (
	"encoding/binary"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/state"
	"pingpost/engine/webhook"
)

// pauses returns the pauses of the schedule, without jitter.
func pauses() (all []time.Duration) {
	for attempt := 1; attempt < webhook.MaxAttempts; attempt++ {
		all = append(all, webhook.PauseAfterAttempt(attempt))
	}
	return all
}

// TestJitter checks that jitter changes a pause by a tenth at most, and that all attempts are
// within 24 hours with an hour and a half to spare.
func TestJitter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pause := rapid.SampledFrom(pauses()).Draw(t, "pause")
		random := [8]byte(binary.LittleEndian.AppendUint64(nil, rapid.Uint64().Draw(t, "random")))
		if got := webhook.VaryByUpToTenth(pause, random); got < pause-pause/10 || got > pause+pause/10 {
			t.Errorf("pause %s with jitter is %s, want at most a tenth more or less", pause, got)
		}
	})
	least, most := time.Duration(0), time.Duration(0)
	for _, pause := range pauses() {
		least += webhook.VaryByUpToTenth(pause, [8]byte{})
		most += webhook.VaryByUpToTenth(pause, [8]byte(binary.LittleEndian.AppendUint64(nil, uint64(pause/5))))
	}
	if least != 1219*time.Minute*9/10 || most != 1219*time.Minute*11/10 || most > 24*time.Hour-90*time.Minute {
		t.Errorf("all attempts take %s to %s, want 24 hours at most", least, most)
	}
}

func TestNextAttempt(t *testing.T) {
	noJitter := func(p []byte) { clear(p) } // the shortest pause
	for attempts, want := range map[uint32]time.Duration{
		0: 54 * time.Second, 1: 54 * time.Second, 2: 6 * time.Minute * 9 / 10, 5: 16 * time.Hour * 9 / 10,
	} {
		if due, ok := webhook.NextAttemptTime(attempts, 7, noJitter); !ok || due != 7+int64(want) {
			t.Errorf("after %d attempts: %d, %v, want %s", attempts, due, ok, want)
		}
	}
	if _, ok := webhook.NextAttemptTime(6, 7, noJitter); ok {
		t.Error("there is an attempt after the sixth")
	}
}

func TestShouldSwitchOff(t *testing.T) {
	const fiveDays = int64(5 * 24 * time.Hour)
	for _, test := range []struct {
		outbox state.OutboxStatus
		now    int64
		want   bool
	}{
		{state.OutboxStatus{}, 1 + fiveDays, false},
		{state.OutboxStatus{FailingSince: 1}, fiveDays, false},
		{state.OutboxStatus{FailingSince: 1}, 1 + fiveDays, true},
		{state.OutboxStatus{FailingSince: 1, Off: true}, 1 + fiveDays, false},
	} {
		if got := webhook.ShouldSwitchOffWebhooks(test.outbox, test.now); got != test.want {
			t.Errorf("%+v at %d: %v", test.outbox, test.now, got)
		}
	}
}
