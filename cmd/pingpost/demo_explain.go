package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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
			a.shown = append(a.shown, timelineOf(one))
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
	return a.shown[0].id
}

// timelineOf takes out of an explanation what is drawn.
func timelineOf(e *exchange.Explanation) *timeline {
	auction := e
	if e.Auction != nil {
		auction = e.Auction
	}
	began := auction.Received
	l := &timeline{id: e.ID, lasts: since(began, auction.Decided), story: story(e)}
	for i := range auction.Candidates {
		c := &auction.Candidates[i]
		if !c.Asked {
			continue
		}
		asked := askedBuyer{name: c.Buyer, outcome: c.Outcome, elapsed: time.Duration(c.Elapsed)}
		if c.Bid != nil {
			asked.amount = market.Money(c.Bid.Amount)
		}
		l.asked = append(l.asked, asked)
	}
	for i := range e.Posts {
		p := &e.Posts[i]
		post := timelinePost{buyer: p.Buyer, came: "open", from: since(began, p.Intended), until: since(began, p.Intended)}
		if n := len(p.Settlements); n > 0 {
			post.came, post.until = p.Settlements[n-1].Came, since(began, p.Settlements[n-1].At)
		}
		l.posts = append(l.posts, post)
	}
	return l
}

func since(began, at exchange.Instant) time.Duration { return time.Duration(at - began) }

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
