package schema

import (
	"pingpost/engine/market"
)

// FilterSet is a buyer's entry in a campaign: filters, price, caps and priority. Its states,
// filters, suppliers, schedule and caps can only narrow the buyer's own. A buyer can have several in a campaign.
type FilterSet struct {
	Buyer    string        `json:"buyer"`
	ID       string        `json:"id,omitempty"` // among the buyer's filter sets; one of them may have none
	Priority *int          `json:"priority"`     // lower first; default: position in the list, from 1
	Weight   *int          `json:"weight"`
	Price    market.Money  `json:"price"` // for the methods without an auction
	States   []string      `json:"states,omitempty"`
	Filters  []Filter      `json:"filters,omitempty"`
	Schedule *OpeningHours `json:"schedule,omitempty"`
	Caps     []Cap         `json:"caps,omitempty"`

	Suppliers    []string `json:"suppliers,omitempty"` // empty: all
	NotSuppliers []string `json:"not_suppliers,omitempty"`

	Modifiers []Modifier `json:"modifiers,omitempty"` // the first one in force counts
}

// Modifier multiplies a filter set's price, and the limits of its own caps, during hours of the week.
type Modifier struct {
	During   []string `json:"during"`
	TimeZone string   `json:"time_zone,omitempty"` // default: that of the campaign
	Price    *Factor  `json:"price,omitempty"`     // default: 1
	Caps     *Factor  `json:"caps,omitempty"`      // default: 1
}

func (s *FilterSet) fillDefaultPriorityAndWeight(index int) {
	s.Priority = orPointerTo(s.Priority, index+1)
	s.Weight = orPointerTo(s.Weight, 1)
}
