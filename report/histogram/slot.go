package histogram

import (
	"math/bits"
	"time"
)

// A slot is a range of microseconds. Each of the first 32 slots is one microsecond wide,
// and after that there are sixteen slots per doubling. So a value read from a slot is
// wrong by at most a thirtieth.
const (
	slotBits   = 4
	exactSlots = 1 << (slotBits + 1)
	slotLimit  = exactSlots + (40-slotBits-1)<<slotBits
)

func slotForLatency(elapsedNanos int64) int {
	us := uint64(max(0, elapsedNanos) / int64(time.Microsecond))
	if us < exactSlots {
		return int(us)
	}
	shift := bits.Len64(us) - slotBits - 1
	return min(slotLimit-1, exactSlots+(shift-1)<<slotBits+int(us>>shift)-1<<slotBits)
}

// middleLatencyOfSlot returns the latency in the middle of a slot's range.
func middleLatencyOfSlot(slot int) time.Duration {
	if slot < exactSlots {
		return time.Duration(slot) * time.Microsecond
	}
	shift := (slot-exactSlots)>>slotBits + 1
	low := (1<<slotBits + (slot-exactSlots)&(1<<slotBits-1)) << shift
	return time.Duration(low+1<<shift/2) * time.Microsecond
}
