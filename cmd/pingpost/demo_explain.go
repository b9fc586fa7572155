package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"pingpost/cmd/pingpost/exchange"
	"pingpost/engine/market"
)

// auctionsLooked is how many auctions are looked at, of leads that were ingested
// and of those that were posted, to find some that show much.
const auctionsLooked = 80

// explain asks the exchange what happened in some auctions, and keeps the most
// telling ones: of each kind of call one, and one in which a buyer refused.
func (a *account) explain(ctx context.Context, x *demoExchange) error {
	var told []*exchange.Explanation
	looked := slices.Concat(firstOf(a.ingested, auctionsLooked), firstOf(a.posted, auctionsLooked))
	for _, id := range looked {
		var one exchange.Explanation
		if err := x.ask(ctx, x.private+"/admin/v1/explain/"+id, &one); err != nil {
			return fmt.Errorf("the exchange does not explain %s: %w", id, err)
		}
		told = append(told, &one)
	}
	slices.SortStableFunc(told, func(a, b *exchange.Explanation) int { return cmp.Compare(telling(b), telling(a)) })
	seen := map[string]bool{}
	for _, one := range told {
		if kind := fmt.Sprint(one.Kind, len(one.Posts) > 1); !seen[kind] {
			seen[kind] = true
			a.shown = append(a.shown, one)
		}
	}
	return nil
}

func firstOf(ids []string, n int) []string { return ids[:min(len(ids), n)] }

// telling is how much an auction shows: the different ends that buyers came to,
// but rather not one that waited two seconds for somebody.
func telling(e *exchange.Explanation) int {
	auction, ends, points := e, map[string]bool{}, 0
	if e.Auction != nil {
		auction = e.Auction
	}
	for i := range auction.Candidates {
		c := &auction.Candidates[i]
		if c.Asked && !ends[c.Outcome] {
			ends[c.Outcome] = true
			points += 2
		}
		if c.Outcome == market.OutcomeTimeout.String() {
			points -= 3
		}
	}
	return points
}

// example is a lead to ask about.
func (a *account) example() string {
	if len(a.shown) == 0 {
		return "LEAD"
	}
	return a.shown[0].ID
}

// demoColumns is how wide a terminal the demonstration is for.
const demoColumns = 80

// drawn is one of them: what came of it in a line, then the auction, and of a lead
// that was posted at the bid of an earlier ping, what followed.
func drawn(e *exchange.Explanation) string {
	text := "  " + e.ID + "\n  " + story(e) + "\n"
	if e.Auction != nil {
		text += timeline(e.Auction, demoColumns)
	}
	return text + timeline(e, demoColumns)
}

func story(e *exchange.Explanation) string {
	way := "ingest"
	if e.Auction != nil {
		way = "ping and post"
	}
	state := strings.Trim(string(e.Fields["state"]), `"`)
	if e.Price == nil {
		return fmt.Sprintf("by %s, %s: not sold, %s", way, state, e.Reason)
	}
	return fmt.Sprintf("by %s, %s: sold to %s for %s, the supplier gets %s",
		way, state, e.Buyer, amount(market.Money(e.Price.Amount)), amount(market.Money(e.Payout.Amount)))
}
