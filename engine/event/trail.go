package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// Step lists the filter sets with one outcome. A trail has at most one step for each
// outcome, and a filter set is in exactly one. With a thousand buyers the whole trail is
// some hundred bytes.
type Step struct {
	Outcome    market.Outcome
	FilterSets bitset.Set
}

// putTrail writes each step's filter sets as words of 64 bits, the lowest first, without
// empty words at the end.
func putTrail(mm message, field uint32, trail []Step) {
	for i := range trail {
		inner := mm.AppendMessage(field)
		putUint(inner, 1, uint64(trail[i].Outcome))
		seats := trail[i].FilterSets
		for len(seats) > 0 && seats[len(seats)-1] == 0 {
			seats = seats[:len(seats)-1]
		}
		if len(seats) > 0 {
			inner.AppendUint64s(2, seats)
		}
	}
}

func getStep(fc *easyproto.FieldContext, trail *[]Step) bool {
	var step *Step
	*trail, step = grow(*trail)
	step.Outcome, step.FilterSets = 0, step.FilterSets[:0]
	return getMessage(fc, step.field)
}

func (s *Step) field(fc *easyproto.FieldContext) (ok bool) {
	switch fc.FieldNum {
	case 1:
		return getByte(fc, &s.Outcome)
	case 2:
		var words []uint64
		words, ok = fc.UnpackUint64s(s.FilterSets)
		s.FilterSets = words
		return ok
	}
	return true
}
