package route

import (
	"cmp"
	"slices"

	"pingpost/engine/market"
)

// Offer is a bid that stands, with all that its rank depends on.
type Offer struct {
	Seat     int // in the lineup
	Amount   market.Money
	Priority int   // of the seat, lower first
	Came     int64 // when the answer came
	Buyer    market.BuyerID
}

// Compare orders offers, the best first: the highest amount, then the lowest
// priority, then the earlier answer, then the buyer's id. A campaign has a buyer
// once, so no two of its offers are equal, and in whatever order they came into
// the list they leave it in one.
func (o Offer) Compare(other Offer) int {
	return cmp.Or(
		cmp.Compare(other.Amount, o.Amount),
		cmp.Compare(o.Priority, other.Priority),
		cmp.Compare(o.Came, other.Came),
		cmp.Compare(o.Buyer, other.Buyer),
	)
}

// Better tells whether a is to be taken before b.
func Better(a, b Offer) bool { return a.Compare(b) < 0 }

// Rank sorts offers in place, the best first.
func Rank(offers []Offer) { slices.SortFunc(offers, Offer.Compare) }
