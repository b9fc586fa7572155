package market

// Passed is a set of the conditions that a lead has met where a bid was made for
// it, by the names that buyers tell each other in buyer_filters_passed.
type Passed uint8

// A campaign is found by the vertical, so every bid has passed that one. The
// others are there where the campaign, the buyer or its seat asks for them: a list
// of states, and filters on consent or on the score.
const (
	PassedState Passed = 1 << iota
	PassedVertical
	PassedTCPA
	PassedScore
)

var passedNames = [...]string{"state", "vertical", "tcpa", "score_threshold"}

// AppendJSON writes the names as an array of strings.
func (p Passed) AppendJSON(dst []byte) []byte {
	dst = append(dst, '[')
	first := true
	for i, name := range passedNames {
		if p>>i&1 == 0 {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(append(dst, '"'), name...), '"')
	}
	return append(dst, ']')
}

// PassedAt is what a lead has met that may be sold at a seat of the lineup.
func (c *Campaign) PassedAt(seat int) Passed {
	met := PassedVertical
	if c.Lineup[seat].States != AllStates {
		met |= PassedState
	}
	return met | passedOf(c.Filters) | passedOf(c.Lineup[seat].Filters)
}

func passedOf(filters []Filter) (met Passed) {
	for i := range filters {
		switch filters[i].slot {
		case SlotState:
			met |= PassedState
		case SlotTCPAConsent:
			met |= PassedTCPA
		case SlotQualityScore:
			met |= PassedScore
		}
	}
	return met
}
