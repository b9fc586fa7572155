package selection

import (
	"cmp"
	"slices"

	"pingpost/engine/market"
)

// RankedBid is a valid bid of an auction with the values that determine its rank.
type RankedBid struct {
	FilterSet int // position in the campaign
	Amount    market.Money
	Priority  int   // of the filter set, lower first
	ArrivedAt int64 // time of the answer
	Buyer     market.BuyerID
}

// CompareBestFirst orders the bids of an auction, the best first: the highest amount, then the
// lowest priority number, then the earlier answer, then the buyer's id. The result is negative if o
// ranks before other. An auction pings a buyer once, so no two bids are equal, and the order does
// not depend on the input order.
func (o RankedBid) CompareBestFirst(other RankedBid) int {
	return cmp.Or(
		cmp.Compare(other.Amount, o.Amount),
		cmp.Compare(o.Priority, other.Priority),
		cmp.Compare(o.ArrivedAt, other.ArrivedAt),
		cmp.Compare(o.Buyer, other.Buyer),
	)
}

// RanksBefore reports whether bid a is better than bid b, in the order of CompareBestFirst.
func RanksBefore(a, b RankedBid) bool { return a.CompareBestFirst(b) < 0 }

// SortBestFirst sorts the bids of an auction in place, the best first, in the order of
// CompareBestFirst.
func SortBestFirst(offers []RankedBid) { slices.SortFunc(offers, RankedBid.CompareBestFirst) }
