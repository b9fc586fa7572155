package selection

import (
	"cmp"
	"slices"

	"pingpost/engine/market"
)

// Offer is a valid bid with the values that determine its rank.
type Offer struct {
	FilterSet int // position in the campaign
	Amount    market.Money
	Priority  int   // of the filter set, lower first
	ArrivedAt int64 // time of the answer
	Buyer     market.BuyerID
}

// Compare orders offers, the best first: the highest amount, then the lowest priority,
// then the earlier answer, then the buyer's id. A campaign has a buyer once, so no two of
// its offers are equal, and the order does not depend on the input order.
func (o Offer) Compare(other Offer) int {
	return cmp.Or(
		cmp.Compare(other.Amount, o.Amount),
		cmp.Compare(o.Priority, other.Priority),
		cmp.Compare(o.ArrivedAt, other.ArrivedAt),
		cmp.Compare(o.Buyer, other.Buyer),
	)
}

// IsBetter reports whether a ranks before b.
func IsBetter(a, b Offer) bool { return a.Compare(b) < 0 }

// Rank sorts offers in place, the best first.
func Rank(offers []Offer) { slices.SortFunc(offers, Offer.Compare) }
