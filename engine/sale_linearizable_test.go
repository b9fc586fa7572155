package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/engine"
)

// postCall is one post for an auction as its caller saw it. One counter for all calls orders
// their starts and ends.
type postCall struct {
	key        string
	start, end int64
	answer     string
}

// auctionModel is the sequential specification of an auction: it sells one lead, and the first
// final answer under a key is the answer to all repeats.
type auctionModel struct {
	sold    bool
	answers map[string]string // final answers by idempotency key
}

// apply returns the model after the call. ok reports whether the model allows the call's answer.
func (m auctionModel) apply(call postCall) (next auctionModel, ok bool) {
	if first, found := m.answers[call.key]; found {
		return m, call.answer == first
	}
	if m.sold {
		return m, strings.Contains(call.answer, "already_sold")
	}
	next = auctionModel{sold: strings.HasSuffix(call.answer, "<nil>"), answers: map[string]string{call.key: call.answer}}
	for key, answer := range m.answers {
		next.answers[key] = answer
	}
	return next, next.sold || strings.Contains(call.answer, "post_rejected")
}

// isLinearizable reports whether the model allows the calls in some sequence. A call that ended
// before another one started comes first in the sequence.
func isLinearizable(m auctionModel, calls []postCall) bool {
	if len(calls) == 0 {
		return true
	}
	firstEnd := slices.MinFunc(calls, func(a, b postCall) int { return int(a.end - b.end) }).end
	for i, call := range calls {
		if call.start > firstEnd {
			continue
		}
		if next, ok := m.apply(call); ok && isLinearizable(next, slices.Concat(calls[:i], calls[i+1:])) {
			return true
		}
	}
	return false
}

func TestLinearizabilityChecker(t *testing.T) {
	const sold, other, rejected, alreadySold = "lead 1 <nil>", "lead 2 <nil>", "post_rejected", "already_sold"
	tests := []struct {
		name  string
		calls []postCall
		want  bool
	}{
		{"sequential posts", []postCall{{"a", 1, 2, sold}, {"b", 3, 4, alreadySold}, {"a", 5, 6, sold}}, true},
		{"rejected, then sold", []postCall{{"a", 1, 2, rejected}, {"b", 3, 4, sold}, {"a", 5, 6, rejected}}, true},
		{"concurrent posts", []postCall{{"a", 1, 4, alreadySold}, {"b", 2, 3, sold}}, true},
		{"sold twice", []postCall{{"a", 1, 4, sold}, {"b", 2, 3, other}}, false},
		{"two answers under one key", []postCall{{"a", 1, 4, sold}, {"a", 2, 3, other}}, false},
		{"already sold before the sale", []postCall{{"b", 1, 2, alreadySold}, {"a", 3, 4, sold}}, false},
		{"another answer to the repeat", []postCall{{"a", 1, 2, rejected}, {"a", 3, 4, sold}}, false},
		{"rejected after the sale", []postCall{{"a", 1, 2, sold}, {"b", 3, 4, rejected}}, false},
	}
	for _, test := range tests {
		expectEqual(t, isLinearizable(auctionModel{}, test.calls), test.want, test.name)
	}
}

// Concurrent posts for one auction get the answers of posts in some sequence: the auction sells
// one lead, each key gets one final answer, and already_sold is the answer only while a sale is
// valid. Each seed varies the keys, the log's speed and the buyer's replies.
func TestConcurrentPostsAreLinearizable(t *testing.T) {
	for seed := range uint64(150) {
		random := rand.New(rand.NewPCG(seed, 3))
		trading(t, fmt.Sprintf("seed %d", seed), bidders(), func(t *testing.T, x *exchange) {
			rejects := random.IntN(4)
			buyerRandom := rand.New(rand.NewPCG(seed, 4))
			x.world.behave = func(p *post) reply {
				delay := time.Duration(buyerRandom.IntN(60)) * ms
				switch {
				case p.try == 1 && buyerRandom.IntN(8) == 0:
					return unreached
				case buyerRandom.IntN(4) < rejects:
					return refuses.in(delay)
				}
				return accepts.in(delay)
			}
			a := x.quoted(inquiry(1))
			x.log.slow(time.Duration(random.IntN(3)*7) * ms)
			var clock atomic.Int64
			calls := make([]postCall, 8)
			var sales []*sale
			for i := range calls {
				p := postOf(random.IntN(4), a)
				calls[i] = postCall{key: p.key, start: clock.Add(1)}
				sales = append(sales, startCall(func() (engine.PostSaleAnswer, error) {
					defer func() { calls[i].end = clock.Add(1) }()
					return x.sell(p)
				}, saidSale))
				if random.IntN(2) == 0 {
					time.Sleep(time.Duration(random.IntN(40)) * ms)
				}
			}
			for i, s := range sales {
				calls[i].answer = wire(s)
			}
			if !isLinearizable(auctionModel{}, calls) {
				t.Errorf("no sequence of the posts gives these answers: %+v", calls)
			}
		})
	}
}
