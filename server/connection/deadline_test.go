package connection

import (
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/internal/must"
)

// A deadline that is set is never earlier than the wanted one, and later by at most a
// sixteenth of the time and by a second. A deadline that is already good enough is not set
// again.
func TestLazyDeadlineIsReused(t *testing.T) {
	rows := []struct {
		name   string
		wanted []time.Duration // from now; one each millisecond
		sets   int
	}{
		{"none", []time.Duration{}, 0},
		{"the same deadlines", []time.Duration{time.Minute, time.Minute, time.Minute}, 1},
		{"an earlier one", []time.Duration{time.Minute, 10 * time.Second}, 2},
		{"a little earlier", []time.Duration{time.Minute, time.Minute - 2*time.Millisecond}, 2},
		{"a later one", []time.Duration{10 * time.Second, time.Minute}, 2},
		{"alternating", []time.Duration{time.Minute, 10 * time.Second, time.Minute, 10 * time.Second}, 4},
		{"short ones", []time.Duration{8 * time.Millisecond, 8 * time.Millisecond}, 2},
		{"a past one", []time.Duration{-time.Second}, 1},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var p lazyDeadline
				sets := 0
				for _, wanted := range row.wanted {
					p.wanted = time.Now().Add(wanted)
					deadline, due := p.deadlineToSet()
					if due {
						sets++
					}
					late := deadline.Sub(p.wanted)
					if most := min(max(0, wanted/16), maxDelay); late < 0 || late > most {
						t.Errorf("wanted in %s, but set %s later; want at most %s", wanted, late, most)
					}
					time.Sleep(time.Millisecond)
				}
				if sets != row.sets {
					t.Errorf("set %d times, want %d", sets, row.sets)
				}
			})
		})
	}
}

// Without a wanted deadline none is set, and removing it clears the one that was set.
func TestLazyDeadlineCanBeCleared(t *testing.T) {
	var p lazyDeadline
	if _, due := p.deadlineToSet(); due {
		t.Error("a deadline was set, but none was wanted")
	}
	p.wanted = time.Now().Add(time.Minute)
	p.deadlineToSet()
	p.wanted = time.Time{}
	if deadline, due := p.deadlineToSet(); !due || !deadline.IsZero() {
		t.Errorf("got deadline %s, %t: want it cleared", deadline, due)
	}
}

// The deadlines of a connection apply to their own direction.
func TestConnReadAndWriteDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		defer client.Close()
		g := newConn(server, NewLimiter(nil, 1, 1, nil, nil))
		defer server.Close()
		for _, row := range []struct {
			name string
			set  func(time.Time) error
			wait func([]byte) (int, error)
		}{
			{"reading", g.SetReadDeadline, g.Read},
			{"writing", g.SetWriteDeadline, g.Write},
			{"reading, both set", g.SetDeadline, g.Read},
			{"writing, both set", g.SetDeadline, g.Write},
			{"reading again", g.SetReadDeadline, g.Read},
		} {
			start := time.Now()
			must.Succeed(t, row.set(start.Add(8*time.Second)))
			_, err := row.wait(make([]byte, 1))
			var timeout net.Error
			ok := errors.As(err, &timeout)
			if took := time.Since(start); !ok || !timeout.Timeout() || took < 8*time.Second || took > 8500*time.Millisecond {
				t.Errorf("%s: %v after %s", row.name, err, took)
			}
		}
	})
}
