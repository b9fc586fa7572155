package report

import (
	"math/bits"
	"time"

	"pingpost/engine/market"
)

// pace is how often a buyer took about so long.
type pace struct {
	quarter                   int64
	campaign, supplier, buyer market.Ref
	kind                      paceKind
	slot                      int
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

// histogram counts times by slot; nil: none.
type histogram map[int]int64

// quantile is the time that so many thousandths did not exceed; false: there is none.
func (h histogram) quantile(thousandths int64) (time.Duration, bool) {
	total := int64(0)
	for _, n := range h {
		total += n
	}
	if total == 0 {
		return 0, false
	}
	rank := (total*thousandths + 999) / 1000
	for slot := range slots {
		if rank -= h[slot]; rank <= 0 {
			return slotTime(slot), true
		}
	}
	return slotTime(slots - 1), true
}
