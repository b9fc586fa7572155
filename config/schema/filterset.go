package schema

import (
	"pingpost/engine/market"
)

// FilterSet is a buyer's entry in a campaign: filters, price, caps and priority. Its states,
// filters, suppliers, schedule and caps can only narrow the buyer's own.
type FilterSet struct {
	Buyer    string        `json:"buyer"`
	Priority *int          `json:"priority"` // lower first; default: position in the list, from 1
	Weight   *int          `json:"weight"`
	Price    market.Money  `json:"price"` // for the methods without an auction
	States   []string      `json:"states,omitempty"`
	Filters  []Filter      `json:"filters,omitempty"`
	Schedule *OpeningHours `json:"schedule,omitempty"`
	Caps     []Cap         `json:"caps,omitempty"`

	Suppliers    []string `json:"suppliers,omitempty"` // empty: all
	NotSuppliers []string `json:"not_suppliers,omitempty"`
}

func (s *FilterSet) fillDefaultPriorityAndWeight(index int) {
	s.Priority = orPointerTo(s.Priority, index+1)
	s.Weight = orPointerTo(s.Weight, 1)
}
