package selection

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/market"
)

// Each row is two offers of which the first is the better one, by the first rule
// that tells them apart.
func TestBetter(t *testing.T) {
	rows := []struct {
		name         string
		better, than RankedBid
	}{
		{"the higher amount", RankedBid{Amount: 2, Priority: 9, ArrivedAt: 9, Buyer: "z"}, RankedBid{Amount: 1, Priority: 1, ArrivedAt: 1, Buyer: "a"}},
		{"a millionth is enough", RankedBid{Amount: 12*dollar + 1, Priority: 9}, RankedBid{Amount: 12 * dollar, Priority: 1}},
		{"the lower priority", RankedBid{Amount: 1, Priority: 1, ArrivedAt: 9, Buyer: "z"}, RankedBid{Amount: 1, Priority: 2, ArrivedAt: 1, Buyer: "a"}},
		{"none before one", RankedBid{Amount: 1, Priority: 0, ArrivedAt: 9}, RankedBid{Amount: 1, Priority: 1, ArrivedAt: 1}},
		{"the earlier answer", RankedBid{Amount: 1, Priority: 1, ArrivedAt: 1, Buyer: "z"}, RankedBid{Amount: 1, Priority: 1, ArrivedAt: 2, Buyer: "a"}},
		{"the buyer's id", RankedBid{Amount: 1, Priority: 1, ArrivedAt: 1, Buyer: "buy_10"}, RankedBid{Amount: 1, Priority: 1, ArrivedAt: 1, Buyer: "buy_9"}},
	}
	for _, row := range rows {
		if !RanksBefore(row.better, row.than) || RanksBefore(row.than, row.better) {
			t.Errorf("%s", row.name)
		}
	}
	same := RankedBid{Amount: 1, Priority: 1, ArrivedAt: 1, Buyer: "a"}
	if RanksBefore(same, same) {
		t.Error("an offer is better than itself")
	}
}

// someOffers draws offers that tie often, of buyers that differ.
func someOffers(t *rapid.T) []RankedBid {
	offers := make([]RankedBid, rapid.IntRange(1, 12).Draw(t, "offers"))
	for i := range offers {
		offers[i] = RankedBid{
			FilterSet: i,
			Amount:    market.Money(rapid.IntRange(1, 3).Draw(t, "amount")),
			Priority:  rapid.IntRange(0, 2).Draw(t, "priority"),
			ArrivedAt: rapid.Int64Range(0, 2).Draw(t, "came"),
			Buyer:     market.BuyerID(string(rune('a' + i))),
		}
	}
	return offers
}

func TestTheRankDependsOnNothingButTheOffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offers := someOffers(t)
		ranked := slices.Clone(offers)
		SortBestFirst(ranked)
		again := rapid.Permutation(offers).Draw(t, "another order")
		SortBestFirst(again)
		if !slices.Equal(ranked, again) {
			t.Fatalf("%v\n%v", ranked, again)
		}
		for i := 1; i < len(ranked); i++ {
			if !RanksBefore(ranked[i-1], ranked[i]) {
				t.Fatalf("%v is ranked before %v", ranked[i-1], ranked[i])
			}
		}
	})
}

// A naive winner: out go those that are beaten on amount, then those of what is
// left that are beaten on priority, and so on.
func TestTheFirstIsTheNaiveWinner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offers := someOffers(t)
		left := slices.Clone(offers)
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
		SortBestFirst(offers)
		if len(left) != 1 || offers[0] != left[0] {
			t.Fatalf("%v, want %v", offers[0], left)
		}
	})
}

func TestTheOrderIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offers := someOffers(t)
		pick := rapid.SampledFrom(offers)
		a, b, c := pick.Draw(t, "a"), pick.Draw(t, "b"), pick.Draw(t, "c")
		if a.CompareRank(b) != -b.CompareRank(a) || (a.CompareRank(b) == 0) != (a == b) {
			t.Fatalf("%v and %v", a, b)
		}
		if RanksBefore(a, b) && RanksBefore(b, c) && !RanksBefore(a, c) {
			t.Fatalf("%v, %v, %v go in a circle", a, b, c)
		}
	})
}

func TestRankingAllocatesNothing(t *testing.T) {
	offers := []RankedBid{{Amount: 1, Buyer: "a"}, {Amount: 2, Buyer: "b"}, {Amount: 2, Buyer: "c"}}
	if n := testing.AllocsPerRun(100, func() { slices.Reverse(offers); SortBestFirst(offers) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
