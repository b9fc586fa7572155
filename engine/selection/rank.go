package selection

import (
	"cmp"
	"slices"

	"pingpost/engine/market"
)

// RankedBid is a valid bid with the values that determine its rank.
type RankedBid struct {
	FilterSet int // position in the campaign
	Amount    market.Money
	Priority  int   // of the filter set, lower first
	ArrivedAt int64 // time of the answer
	Buyer     market.BuyerID
}

// CompareRank orders offers, the best first: the highest amount, then the lowest priority,
// then the earlier answer, then the buyer's id. A campaign has a buyer once, so no two of
// its offers are equal, and the order does not depend on the input order.
func (o RankedBid) CompareRank(other RankedBid) int {
	return cmp.Or(
		cmp.Compare(other.Amount, o.Amount),
		cmp.Compare(o.Priority, other.Priority),
		cmp.Compare(o.ArrivedAt, other.ArrivedAt),
		cmp.Compare(o.Buyer, other.Buyer),
	)
}

// RanksBefore reports whether a ranks before b.
func RanksBefore(a, b RankedBid) bool { return a.CompareRank(b) < 0 }

// SortBestFirst sorts offers in place, the best first.
func SortBestFirst(offers []RankedBid) { slices.SortFunc(offers, RankedBid.CompareRank) }
