//go:build !linux

package load

import "time"

// Sleep is as precise as the runtime's timers.
func Sleep(d time.Duration) { time.Sleep(d) }
