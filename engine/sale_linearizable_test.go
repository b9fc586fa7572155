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

// postOperation is one post for an auction as its caller saw it. One counter for all calls orders
// their starts and ends.
type postOperation struct {
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
func (m auctionModel) apply(call postOperation) (next auctionModel, ok bool) {
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
func isLinearizable(m auctionModel, calls []postOperation) bool {
	if len(calls) == 0 {
		return true
	}
	firstEnd := slices.MinFunc(calls, func(a, b postOperation) int { return int(a.end - b.end) }).end
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
		calls []postOperation
		want  bool
	}{
		{"sequential posts", []postOperation{{"a", 1, 2, sold}, {"b", 3, 4, alreadySold}, {"a", 5, 6, sold}}, true},
		{"rejected, then sold", []postOperation{{"a", 1, 2, rejected}, {"b", 3, 4, sold}, {"a", 5, 6, rejected}}, true},
		{"concurrent posts", []postOperation{{"a", 1, 4, alreadySold}, {"b", 2, 3, sold}}, true},
		{"sold twice", []postOperation{{"a", 1, 4, sold}, {"b", 2, 3, other}}, false},
		{"two answers under one key", []postOperation{{"a", 1, 4, sold}, {"a", 2, 3, other}}, false},
		{"already sold before the sale", []postOperation{{"b", 1, 2, alreadySold}, {"a", 3, 4, sold}}, false},
		{"another answer to the repeat", []postOperation{{"a", 1, 2, rejected}, {"a", 3, 4, sold}}, false},
		{"rejected after the sale", []postOperation{{"a", 1, 2, sold}, {"b", 3, 4, rejected}}, false},
	}
	for _, test := range tests {
		expectEqual(t, isLinearizable(auctionModel{}, test.calls), test.want, test.name)
	}
}

// Concurrent posts for one auction get the answers of posts in some sequence: the auction sells
// one lead, each key gets one final answer, and already_sold is the answer only while a sale is
// valid. Each seed varies the keys, the log's speed and the buyer's replies.
func TestConcurrentPostsAreLinearizable(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 50
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 3))
		runWithExchange(t, fmt.Sprintf("seed %d", seed), twoBidders(), func(t *testing.T, x *testExchange) {
			rejects := random.IntN(4)
			buyerRandom := rand.New(rand.NewPCG(seed, 4))
			x.buyers.replyTo = func(p *receivedPost) postReply {
				delay := time.Duration(buyerRandom.IntN(60)) * ms
				switch {
				case p.attempt == 1 && buyerRandom.IntN(8) == 0:
					return unreachable
				case buyerRandom.IntN(4) < rejects:
					return refuses.after(delay)
				}
				return accepts.after(delay)
			}
			a := x.pingAuction(supplierPing(1))
			x.log.setSyncTime(time.Duration(random.IntN(3)*7) * ms)
			var clock atomic.Int64
			calls := make([]postOperation, 8)
			var sales []*saleCall
			for i := range calls {
				p := postFor(random.IntN(4), a)
				calls[i] = postOperation{key: p.key, start: clock.Add(1)}
				sales = append(sales, startCall(func() (engine.SupplierPostAnswer, error) {
					defer func() { calls[i].end = clock.Add(1) }()
					return x.sellAtBid(p)
				}, describeSale))
				if random.IntN(2) == 0 {
					time.Sleep(time.Duration(random.IntN(40)) * ms)
				}
			}
			for i, s := range sales {
				calls[i].answer = answerText(s)
			}
			if !isLinearizable(auctionModel{}, calls) {
				t.Errorf("no sequence of the posts gives these answers: %+v", calls)
			}
		})
	}
}
