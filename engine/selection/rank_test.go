package selection

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/market"
)

// In each row the first bid ranks higher, by the first rule that distinguishes the two.
func TestRanksBefore(t *testing.T) {
	rows := []struct {
		name         string
		better, than RankedBid
	}{
		{"the higher amount", RankedBid{Amount: 2, Priority: 9, ArrivedAt: 9, Buyer: "z"}, RankedBid{Amount: 1, Priority: 1, ArrivedAt: 1, Buyer: "a"}},
		{"a millionth is enough", RankedBid{Amount: 12*dollar + 1, Priority: 9}, RankedBid{Amount: 12 * dollar, Priority: 1}},
		{"the lower priority", RankedBid{Amount: 1, Priority: 1, ArrivedAt: 9, Buyer: "z"}, RankedBid{Amount: 1, Priority: 2, ArrivedAt: 1, Buyer: "a"}},
		{"no priority before priority 1", RankedBid{Amount: 1, Priority: 0, ArrivedAt: 9}, RankedBid{Amount: 1, Priority: 1, ArrivedAt: 1}},
		{"the earlier answer", RankedBid{Amount: 1, Priority: 1, ArrivedAt: 1, Buyer: "z"}, RankedBid{Amount: 1, Priority: 1, ArrivedAt: 2, Buyer: "a"}},
		{"the buyer's id", RankedBid{Amount: 1, Priority: 1, ArrivedAt: 1, Buyer: "buy_10"}, RankedBid{Amount: 1, Priority: 1, ArrivedAt: 1, Buyer: "buy_9"}},
	}
	for _, row := range rows {
		if !RanksBefore(row.better, row.than) || RanksBefore(row.than, row.better) {
			t.Errorf("%s: the first bid does not rank before the second", row.name)
		}
	}
	same := RankedBid{Amount: 1, Priority: 1, ArrivedAt: 1, Buyer: "a"}
	if RanksBefore(same, same) {
		t.Error("a bid ranks before itself")
	}
}

// drawBids draws bids of different buyers that often tie.
func drawBids(t *rapid.T) []RankedBid {
	bids := make([]RankedBid, rapid.IntRange(1, 12).Draw(t, "bids"))
	for i := range bids {
		bids[i] = RankedBid{
			FilterSet: i,
			Amount:    market.Money(rapid.IntRange(1, 3).Draw(t, "amount")),
			Priority:  rapid.IntRange(0, 2).Draw(t, "priority"),
			ArrivedAt: rapid.Int64Range(0, 2).Draw(t, "arrived"),
			Buyer:     market.BuyerID(string(rune('a' + i))),
		}
	}
	return bids
}

func TestRankingIgnoresInputOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bids := drawBids(t)
		ranked := slices.Clone(bids)
		SortBestFirst(ranked)
		again := rapid.Permutation(bids).Draw(t, "another order")
		SortBestFirst(again)
		if !slices.Equal(ranked, again) {
			t.Fatalf("ranked %v\nin another order %v", ranked, again)
		}
		for i := 1; i < len(ranked); i++ {
			if !RanksBefore(ranked[i-1], ranked[i]) {
				t.Fatalf("%v is ranked before %v", ranked[i-1], ranked[i])
			}
		}
	})
}

// The model removes the bids that are beaten on amount, then those of the rest that are beaten
// on priority, and so on.
func TestFirstRankedMatchesModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bids := drawBids(t)
		left := slices.Clone(bids)
		for _, beats := range []func(a, b RankedBid) bool{
			func(a, b RankedBid) bool { return a.Amount > b.Amount },
			func(a, b RankedBid) bool { return a.Priority < b.Priority },
			func(a, b RankedBid) bool { return a.ArrivedAt < b.ArrivedAt },
			func(a, b RankedBid) bool { return a.Buyer < b.Buyer },
		} {
			all := slices.Clone(left)
			left = slices.DeleteFunc(left, func(o RankedBid) bool {
				return slices.ContainsFunc(all, func(other RankedBid) bool { return beats(other, o) })
			})
		}
		SortBestFirst(bids)
		if len(left) != 1 || bids[0] != left[0] {
			t.Fatalf("%v, want %v", bids[0], left)
		}
	})
}

func TestRankOrderIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bids := drawBids(t)
		pick := rapid.SampledFrom(bids)
		a, b, c := pick.Draw(t, "a"), pick.Draw(t, "b"), pick.Draw(t, "c")
		if a.CompareBestFirst(b) != -b.CompareBestFirst(a) || (a.CompareBestFirst(b) == 0) != (a == b) {
			t.Fatalf("CompareBestFirst of %v and %v is inconsistent", a, b)
		}
		if RanksBefore(a, b) && RanksBefore(b, c) && !RanksBefore(a, c) {
			t.Fatalf("%v, %v and %v rank in a cycle", a, b, c)
		}
	})
}

func TestRankingAllocations(t *testing.T) {
	bids := []RankedBid{{Amount: 1, Buyer: "a"}, {Amount: 2, Buyer: "b"}, {Amount: 2, Buyer: "c"}}
	if n := testing.AllocsPerRun(100, func() { slices.Reverse(bids); SortBestFirst(bids) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
