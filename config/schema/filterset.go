package schema

import (
	"pingpost/engine/market"
)

// FilterSet is a buyer's place in a campaign. What it adds narrows what the buyer
// says of itself.
type FilterSet struct {
	Buyer    string       `json:"buyer"`
	Priority *int         `json:"priority"` // lower first; by default the order of the list, from 1
	Weight   *int         `json:"weight"`
	Price    market.Money `json:"price"` // for the methods without an auction
	States   []string     `json:"states,omitempty"`
	Filters  []Filter     `json:"filters,omitempty"`
	Schedule *Schedule    `json:"schedule,omitempty"`
	Caps     []Cap        `json:"caps,omitempty"`
}

func (s *FilterSet) fill(index int) {
	s.Priority = valueOr(s.Priority, index+1)
	s.Weight = valueOr(s.Weight, 1)
}
