package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// Nap sleeps more exactly than the runtime's timers, which round to
// milliseconds.
func Nap(d time.Duration) {
	if d > 0 {
		t := unix.NsecToTimespec(int64(d))
		_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &t, nil) // woken early is early enough
	}
}
