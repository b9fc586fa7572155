package cpuwait

import (
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/internal/must"
)

// TestWaitingThreadsFollowsTheCounters compares the average with counters that the test sets, one
// second after the other.
func TestWaitingThreadsFollowsTheCounters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &Meter{folder: t.TempDir()}
		for _, step := range []struct {
			name        string
			counters    map[string]string // of each thread; "" ends it
			want        float64
			wantIsKnown bool
		}{
			{"first call", map[string]string{"1": "5000000000 1000000000 7\n"}, 0, false},
			{"one thread waited all the time", map[string]string{"1": "5000000000 2000000000 8\n"}, 1, true},
			{"a new thread waited a quarter of it", map[string]string{"2": "1 250000000 1\n"}, 0.25, true},
			{"neither thread waited", nil, 0, true},
			{"one thread ended", map[string]string{"1": ""}, 0, true},
			{"the counter is unreadable", map[string]string{"2": "?"}, 0, false},
			{"it is readable again, two seconds later", map[string]string{"2": "1 1250000000 2\n"}, 0.5, true},
		} {
			for thread, text := range step.counters {
				folder := filepath.Join(m.folder, thread)
				must.Succeed(t, os.RemoveAll(folder))
				if text != "" {
					must.Succeed(t, os.MkdirAll(folder, 0o700))
					must.Succeed(t, os.WriteFile(filepath.Join(folder, "schedstat"), []byte(text), 0o600))
				}
			}
			time.Sleep(time.Second)
			if got, isKnown := m.WaitingThreads(); got != step.want || isKnown != step.wantIsKnown {
				t.Errorf("%s: %v threads, known %v, want %v and %v", step.name, got, isKnown, step.want, step.wantIsKnown)
			}
		}
	})
}

// TestWaitingThreadsOfThisProcess measures this process while it has more busy threads than the
// machine has processors.
func TestWaitingThreadsOfThisProcess(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("the system does not count how long threads wait")
	}
	busy := 2 * runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(busy + 1))
	var stop atomic.Bool
	defer stop.Store(true)
	for range busy {
		go func() {
			for turns := 0; !stop.Load(); {
				turns++
			}
		}()
	}
	m := NewMeter()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if waiting, isKnown := m.WaitingThreads(); isKnown && waiting >= 0.5 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d busy threads on %d processors, and the meter says that none waits", busy, runtime.NumCPU())
		}
	}
}
