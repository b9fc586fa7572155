package wal

import (
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestScrubReportsDamagedHistory(t *testing.T) {
	for name, c := range map[string]struct {
		damage  func(t *testing.T, dir string)
		checked int
		damaged int
		names   uint64
	}{
		"whole": {func(*testing.T, string) {}, 2, 0, 0},
		"a flipped bit": {func(t *testing.T, dir string) {
			edit(t, livePath(dir, 4), func(b []byte) []byte { b[9] ^= 4; return b })
		}, 2, 1, 4},
		"a lost record": {func(t *testing.T, dir string) {
			at := records(t, livePath(dir, 1))
			edit(t, livePath(dir, 1), func(b []byte) []byte { return b[:at[2]] })
		}, 2, 1, 1},
		"moved to the archive":   {func(t *testing.T, dir string) { moveToArchive(t, dir, 1) }, 2, 0, 0},
		"older than the history": {func(_ *testing.T, dir string) { os.Remove(livePath(dir, 1)) }, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, opt := threeAFile(t)
				c.damage(t, dir)
				j := new(journal)
				opt.From, opt.Logger = 8, j.logger()
				l := mustOpen(t, dir, opt)
				time.Sleep(time.Minute)
				st := l.Stats()
				equal(t, "checked and damaged", []uint64{st.Scrubbed, st.Damaged}, []int{c.checked, c.damaged})
				if c.names > 0 && !j.contains(segmentName(c.names)) {
					t.Error("the damage was not logged")
				}
				mustClose(t, l)
			})
		})
	}
}

func TestScrubIsThrottledAndEndsWithLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newThrottle(1 << 20)
		equal(t, "after a mebibyte", p.countBytesAndReturnDelay(1<<20), time.Second)
		time.Sleep(time.Second)
		equal(t, "after half of one", p.countBytesAndReturnDelay(1<<19), time.Second/2)
		time.Sleep(time.Hour)
		equal(t, "after a pause", p.countBytesAndReturnDelay(1), time.Duration(0))
		equal(t, "no burst after it", p.countBytesAndReturnDelay(1<<20), time.Second)
		equal(t, "without a limit", newThrottle(-1).countBytesAndReturnDelay(1<<40), time.Duration(0))
	})
}

// Closing the channel lift ends current and later waits.
func TestLiftEndsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hurry := make(chan struct{})
		p := newThrottle(1)
		p.lift = hurry
		begun := time.Now()
		p.countBytesAndSleep(10)
		equal(t, "at its pace", time.Since(begun), 10*time.Second)
		time.AfterFunc(time.Minute, func() { close(hurry) })
		begun = time.Now()
		p.countBytesAndSleep(3600)
		equal(t, "until the hurry", time.Since(begun), time.Minute)
		p.countBytesAndSleep(3600)
		equal(t, "in a hurry", time.Since(begun), time.Minute)
	})
}
