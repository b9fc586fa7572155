//go:build unix

package crash

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"pingpost/fuzz/witness"
)

// manner is a way to end the exchange.
type manner string

const (
	plainly   manner = "plainly"
	again     manner = "again while it replays"
	frozen    manner = "while it is stopped"
	thawed    manner = "just after it was stopped for a while"
	reloading manner = "while it reloads"
	stopping  manner = "while it stops"
	writing   manner = "while it writes a snapshot"
	orderly   manner = "not at all: it is stopped in order"
)

// deck returns every manner, with a double share of the one that hits the recovery. Decks are
// shuffled and used until the exchange was killed often enough.
func deck(random *rand.Rand) []manner {
	cards := []manner{plainly, again, again, frozen, thawed, reloading, stopping, writing, orderly}
	random.Shuffle(len(cards), func(i, j int) { cards[i], cards[j] = cards[j], cards[i] })
	return cards
}

// killer ends the exchange in different ways.
type killer struct {
	*witness.Harness
	t      *testing.T
	random *rand.Rand
	kills  int
	tally  map[manner]int // number of kills by manner
}

// sleepUpTo sleeps for a random part of the span.
func (k *killer) sleepUpTo(span time.Duration) {
	time.Sleep(time.Duration(k.random.Int64N(int64(span))))
}

// end ends the process. If it stopped in order before the kill, that does not count as a kill.
func (k *killer) end(how manner) {
	switch how {
	case orderly:
		k.Stop()
		return
	case again:
		k.countKill(plainly)
		for range 1 + k.random.IntN(2) {
			k.Launch()
			k.sleepUpTo(max(k.Startup(), time.Millisecond))
			k.countKill(again)
		}
		return
	case frozen:
		k.Signal(syscall.SIGSTOP)
		k.sleepUpTo(100 * time.Millisecond)
	case thawed:
		k.Signal(syscall.SIGSTOP)
		k.sleepUpTo(300 * time.Millisecond)
		k.Signal(syscall.SIGCONT)
		k.sleepUpTo(20 * time.Millisecond)
	case reloading:
		k.WriteNextConfig()
		k.Signal(syscall.SIGHUP)
		k.sleepUpTo(15 * time.Millisecond)
	case stopping:
		k.Signal(syscall.SIGTERM)
		k.sleepUpTo(200 * time.Millisecond)
	case writing:
		k.untilWriting()
	}
	k.countKill(how)
}

// countKill kills the process, and counts it if it was still running.
func (k *killer) countKill(how manner) {
	if k.Kill() {
		k.kills++
		k.tally[how]++
	}
}

// untilWriting stops the exchange and waits until it writes its snapshot, or until it is too
// late. A temporary file may exist from an earlier kill; the exchange overwrites it.
func (k *killer) untilWriting() {
	begun := func() (at time.Time) {
		if info, err := os.Stat(filepath.Join(k.DataDir(), "snapshot", "next.tmp")); err == nil {
			at = info.ModTime()
		}
		return at
	}
	before := begun()
	k.Signal(syscall.SIGTERM)
	witness.Await(k.t, "the exchange writes a snapshot", func() bool {
		at := begun()
		return (!at.IsZero() && !at.Equal(before)) || k.ExitReport() != ""
	})
	k.sleepUpTo(4 * time.Millisecond)
}
