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

// manner is a way to end a life of the exchange.
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

// deck has every manner, and the one that hits recovery twice. Decks are
// shuffled and dealt until the exchange was killed often enough.
func deck(chance *rand.Rand) []manner {
	cards := []manner{plainly, again, again, frozen, thawed, reloading, stopping, writing, orderly}
	chance.Shuffle(len(cards), func(i, j int) { cards[i], cards[j] = cards[j], cards[i] })
	return cards
}

// killer ends the exchange's lives.
type killer struct {
	*witness.Harness
	t      *testing.T
	chance *rand.Rand
	kills  int
	tally  map[manner]int // of the kills
}

// within is some instant of a span.
func (k *killer) within(span time.Duration) {
	time.Sleep(time.Duration(k.chance.Int64N(int64(span))))
}

// end ends the present life. Where the exchange was faster, and has stopped in
// order before it was killed, that is no kill.
func (k *killer) end(how manner) {
	switch how {
	case orderly:
		k.Stop()
		return
	case again:
		k.slay(plainly)
		for range 1 + k.chance.IntN(2) {
			k.Launch()
			k.within(max(k.Startup(), time.Millisecond))
			k.slay(again)
		}
		return
	case frozen:
		k.Signal(syscall.SIGSTOP)
		k.within(100 * time.Millisecond)
	case thawed:
		k.Signal(syscall.SIGSTOP)
		k.within(300 * time.Millisecond)
		k.Signal(syscall.SIGCONT)
		k.within(20 * time.Millisecond)
	case reloading:
		k.WriteNextConfig()
		k.Signal(syscall.SIGHUP)
		k.within(15 * time.Millisecond)
	case stopping:
		k.Signal(syscall.SIGTERM)
		k.within(200 * time.Millisecond)
	case writing:
		k.untilWriting()
	}
	k.slay(how)
}

// slay kills, and counts it where there was somebody to kill.
func (k *killer) slay(how manner) {
	if k.Kill() {
		k.kills++
		k.tally[how]++
	}
}

// untilWriting has the exchange stop, and waits until it writes its snapshot, or
// it is too late for one. A temporary file may lie there from an earlier death:
// the writer begins it anew.
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
	k.within(4 * time.Millisecond)
}
