package report

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestThrottleSharesTheProcessor checks the share of a processor that the writer takes, and that leads
// never wait longer than one stretch of its work.
func TestThrottleSharesTheProcessor(t *testing.T) {
	for _, c := range []struct {
		name       string
		catchingUp bool
		waiting    float64 // threads that wait for a processor
		unknown    bool
		wantShare  float64
		wantLong   time.Duration // longest work without a rest
	}{
		{"no backlog, no contention", false, 0.8, false, 1.0 / 3, 500 * time.Microsecond},
		{"backlog, no contention", true, 0.8, false, 0.8, 4 * time.Millisecond},
		{"no backlog, contention", false, 1.7, false, leastShare, 200 * time.Microsecond},
		{"backlog, contention", true, 1.7, false, leastShare, 200 * time.Microsecond},
		{"backlog, the system does not count waits", true, 0, true, 0.8, 4 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newWriteThrottle()
				b.catchingUp, b.least = c.catchingUp, leastShare
				b.waitingThreads = func() (float64, bool) { return c.waiting, !c.unknown }
				var rested, longest time.Duration
				b.sleep = func(d time.Duration) {
					longest = max(longest, time.Since(b.workStarted))
					time.Sleep(d)
					rested += d
				}
				work := func(total time.Duration) {
					const piece = 50 * time.Microsecond
					for b.recordWorkStart(); total > 0; total -= piece {
						time.Sleep(piece)
						b.sleepIfDue()
					}
				}
				work(time.Second) // the share settles
				began := time.Now()
				rested, longest = 0, 0
				work(time.Second)
				if share := 1 - float64(rested)/float64(time.Since(began)); share < 0.97*c.wantShare || share > 1.03*c.wantShare {
					t.Errorf("the writer took %.4f of a processor, want %.4f", share, c.wantShare)
				}
				if longest != c.wantLong {
					t.Errorf("the longest work without a rest took %s, want %s", longest, c.wantLong)
				}
			})
		})
	}
}

// TestThrottleRecoversFromContention checks how long the writer takes to use an idle machine again.
func TestThrottleRecoversFromContention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newWriteThrottle()
		b.catchingUp, b.share, b.least = true, leastShare, leastShare
		b.waitingThreads = func() (float64, bool) { return 0, true }
		began := time.Now()
		for b.recordWorkStart(); b.share < highestShareCatchingUp; b.sleepIfDue() {
			time.Sleep(50 * time.Microsecond)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("after contention the writer took %s to use the machine again", took)
		}
	})
}
