package report

import (
	"math/bits"
	"time"
)

// pace is what the times that buyers take are told apart by.
type pace struct {
	of   cell // its quarter and its parties
	kind paceKind
}

// paceAt is where they are kept.
type paceAt struct {
	grain grain
	unit  int64
	start int64 // in units
	pace  pace  // without its quarter
}

type paceKind uint8

const (
	pacePing paceKind = 1 // from the ping to the buyer's answer
	pacePost paceKind = 2 // of a post's last try, where an answer came
)

// A slot is a stretch of microseconds: of one each up to 32, and from there on sixteen
// to each doubling. So what is read from one is off by a thirtieth at most.
const (
	slotBits = 4
	exact    = 1 << (slotBits + 1)
	slots    = exact + (40-slotBits-1)<<slotBits
)

func slotOf(elapsed int64) int {
	us := uint64(max(0, elapsed) / int64(time.Microsecond))
	if us < exact {
		return int(us)
	}
	shift := bits.Len64(us) - slotBits - 1
	return min(slots-1, exact+(shift-1)<<slotBits+int(us>>shift)-1<<slotBits)
}

// slotTime is the middle of a slot.
func slotTime(slot int) time.Duration {
	if slot < exact {
		return time.Duration(slot) * time.Microsecond
	}
	shift := (slot-exact)>>slotBits + 1
	low := (1<<slotBits + (slot-exact)&(1<<slotBits-1)) << shift
	return time.Duration(low+1<<shift/2) * time.Microsecond
}
