package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// Sleep is more precise than the runtime's timers, which round to milliseconds.
func Sleep(d time.Duration) {
	if d > 0 {
		t := unix.NsecToTimespec(int64(d))
		_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &t, nil) // waking early is fine
	}
}
