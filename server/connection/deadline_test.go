package connection

import (
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/internal/must"
)

// A deadline that is given is never earlier than the one that was wanted, and
// later by a sixteenth of the time at most, and by a second; one that serves is
// not given again.
func TestPatience(t *testing.T) {
	tests := []struct {
		what   string
		wanted []time.Duration // from now, each a millisecond after the one before
		given  int
	}{
		{"none", []time.Duration{}, 0},
		{"the same again and again", []time.Duration{time.Minute, time.Minute, time.Minute}, 1},
		{"a nearer one", []time.Duration{time.Minute, 10 * time.Second}, 2},
		{"a little nearer", []time.Duration{time.Minute, time.Minute - 2*time.Millisecond}, 2},
		{"one further off", []time.Duration{10 * time.Second, time.Minute}, 2},
		{"in turn", []time.Duration{time.Minute, 10 * time.Second, time.Minute, 10 * time.Second}, 4},
		{"short ones", []time.Duration{8 * time.Millisecond, 8 * time.Millisecond}, 2},
		{"one that is over", []time.Duration{-time.Second}, 1},
	}
	for _, test := range tests {
		t.Run(test.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var p lazyDeadline
				given := 0
				for _, wanted := range test.wanted {
					p.wanted = time.Now().Add(wanted)
					deadline, due := p.deadlineToSet()
					if due {
						given++
					}
					late := deadline.Sub(p.wanted)
					if most := min(max(0, wanted/16), maxDelay); late < 0 || late > most {
						t.Errorf("wanted in %s, and given %s later; at most %s", wanted, late, most)
					}
					time.Sleep(time.Millisecond)
				}
				if given != test.given {
					t.Errorf("given %d times, want %d", given, test.given)
				}
			})
		})
	}
}

// No deadline is wanted first, and again at the end.
func TestPatienceWithoutEnd(t *testing.T) {
	var p lazyDeadline
	if _, due := p.deadlineToSet(); due {
		t.Error("a deadline was given where none was ever wanted")
	}
	p.wanted = time.Now().Add(time.Minute)
	p.deadlineToSet()
	p.wanted = time.Time{}
	if deadline, due := p.deadlineToSet(); !due || !deadline.IsZero() {
		t.Errorf("given %s, %t: want it taken away", deadline, due)
	}
}

// A guest's deadlines hold, each for its own direction.
func TestAGuestsDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		g := newConn(ours, NewLimiter(nil, 1, 1, nil, nil))
		defer ours.Close()
		for _, test := range []struct {
			what string
			set  func(time.Time) error
			wait func([]byte) (int, error)
		}{
			{"reading", g.SetReadDeadline, g.Read},
			{"writing", g.SetWriteDeadline, g.Write},
			{"reading, both set", g.SetDeadline, g.Read},
			{"writing, both set", g.SetDeadline, g.Write},
			{"reading once more", g.SetReadDeadline, g.Read},
		} {
			start := time.Now()
			must.Succeed(t, test.set(start.Add(8*time.Second)))
			_, err := test.wait(make([]byte, 1))
			var timeout net.Error
			ok := errors.As(err, &timeout)
			if took := time.Since(start); !ok || !timeout.Timeout() || took < 8*time.Second || took > 8500*time.Millisecond {
				t.Errorf("%s: %v after %s", test.what, err, took)
			}
		}
	})
}
