package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// OutcomeFilterSets lists the filter sets with one outcome of a decision. A trail is the list of these
// steps: at most one for each outcome. Every filter set of the campaign is in exactly one
// step. With a thousand buyers the whole trail takes a few hundred bytes.
type OutcomeFilterSets struct {
	Outcome    market.Outcome
	FilterSets bitset.Set
}

// putTrail writes each step's filter sets as words of 64 bits, the lowest first, without
// empty words at the end.
func putTrail(mm openMessage, field uint32, trail []OutcomeFilterSets) {
	for i := range trail {
		inner := mm.AppendMessage(field)
		putUint(inner, 1, uint64(trail[i].Outcome))
		sets := trail[i].FilterSets
		for len(sets) > 0 && sets[len(sets)-1] == 0 {
			sets = sets[:len(sets)-1]
		}
		if len(sets) > 0 {
			inner.AppendUint64s(2, sets)
		}
	}
}

func getTrailStep(fc *easyproto.FieldContext, trail *[]OutcomeFilterSets) bool {
	var step *OutcomeFilterSets
	*trail, step = appendZero(*trail)
	step.Outcome, step.FilterSets = 0, step.FilterSets[:0]
	return getMessage(fc, step.decodeField)
}

func (s *OutcomeFilterSets) decodeField(fc *easyproto.FieldContext) (ok bool) {
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
