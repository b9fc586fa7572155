//go:build !linux

package load

import "time"

// Nap sleeps as exactly as the runtime's timers do.
func Nap(d time.Duration) { time.Sleep(d) }
