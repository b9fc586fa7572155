package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// Step says which seats of the lineup came to one outcome. A trail has at most
// one step an outcome, and a seat is in exactly one: with a thousand buyers in
// a campaign the whole trail is some hundred bytes.
type Step struct {
	Outcome market.Outcome
	Seats   market.Bits
}

// putTrail writes each step's seats as words of 64, lowest seat first, without
// the empty ones at the end.
func putTrail(mm message, field uint32, trail []Step) {
	for i := range trail {
		inner := mm.AppendMessage(field)
		putUint(inner, 1, uint64(trail[i].Outcome))
		seats := trail[i].Seats
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
	step.Outcome, step.Seats = 0, step.Seats[:0]
	return getMessage(fc, step.field)
}

func (s *Step) field(fc *easyproto.FieldContext) (ok bool) {
	switch fc.FieldNum {
	case 1:
		return getByte(fc, &s.Outcome)
	case 2:
		var words []uint64
		words, ok = fc.UnpackUint64s(s.Seats)
		s.Seats = words
		return ok
	}
	return true
}
