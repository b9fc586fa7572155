package histogram

import (
	"math/bits"
	"time"
)

// A slot is a stretch of microseconds: of one each up to 32, and from there on sixteen
// to each doubling. So what is read from one is off by a thirtieth at most.
const (
	slotBits   = 4
	exactSlots = 1 << (slotBits + 1)
	slotLimit  = exactSlots + (40-slotBits-1)<<slotBits
)

func slotOf(elapsed int64) int {
	us := uint64(max(0, elapsed) / int64(time.Microsecond))
	if us < exactSlots {
		return int(us)
	}
	shift := bits.Len64(us) - slotBits - 1
	return min(slotLimit-1, exactSlots+(shift-1)<<slotBits+int(us>>shift)-1<<slotBits)
}

// slotTime is the middle of a slot.
func timeOfSlot(slot int) time.Duration {
	if slot < exactSlots {
		return time.Duration(slot) * time.Microsecond
	}
	shift := (slot-exactSlots)>>slotBits + 1
	low := (1<<slotBits + (slot-exactSlots)&(1<<slotBits-1)) << shift
	return time.Duration(low+1<<shift/2) * time.Microsecond
}
