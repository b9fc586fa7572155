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

// op is one post for an auction as its caller saw it: what was asked when, and
// what was heard when, by one count for all.
type op struct {
	key          string
	called, done int64
	heard        string
}

// oneSale is the whole of what an auction is: a bid that one lead is sold by, and
// the answers that were given for good. It is written without a look at how the
// engine comes to it.
type oneSale struct {
	sold    bool
	answers map[string]string
}

// step tells whether the operation could have happened now, and what is then.
func (m oneSale) step(o op) (oneSale, bool) {
	if first, ok := m.answers[o.key]; ok {
		return m, o.heard == first
	}
	if m.sold {
		return m, strings.Contains(o.heard, "already_sold")
	}
	next := oneSale{sold: strings.HasSuffix(o.heard, "<nil>"), answers: map[string]string{o.key: o.heard}}
	for key, answer := range m.answers {
		next.answers[key] = answer
	}
	return next, next.sold || strings.Contains(o.heard, "post_rejected")
}

// explained tells whether there is an order of the operations, which keeps those
// apart that did not overlap, by which the model would have come to it all.
func explained(m oneSale, left []op) bool {
	if len(left) == 0 {
		return true
	}
	firstEnd := slices.MinFunc(left, func(a, b op) int { return int(a.done - b.done) }).done
	for i, o := range left {
		if o.called > firstEnd {
			continue
		}
		if next, ok := m.step(o); ok && explained(next, slices.Concat(left[:i], left[i+1:])) {
			return true
		}
	}
	return false
}

// The checker is held to histories that are known to be right or wrong.
func TestTheModelOfOneSale(t *testing.T) {
	const sold, other, refused, late = "lead 1 <nil>", "lead 2 <nil>", "post_rejected", "already_sold"
	tests := []struct {
		what string
		ops  []op
		want bool
	}{
		{"one after the other", []op{{"a", 1, 2, sold}, {"b", 3, 4, late}, {"a", 5, 6, sold}}, true},
		{"refused, then sold", []op{{"a", 1, 2, refused}, {"b", 3, 4, sold}, {"a", 5, 6, refused}}, true},
		{"side by side", []op{{"a", 1, 4, late}, {"b", 2, 3, sold}}, true},
		{"sold twice", []op{{"a", 1, 4, sold}, {"b", 2, 3, other}}, false},
		{"two answers to one key", []op{{"a", 1, 4, sold}, {"a", 2, 3, other}}, false},
		{"too late for what comes after", []op{{"b", 1, 2, late}, {"a", 3, 4, sold}}, false},
		{"another answer later", []op{{"a", 1, 2, refused}, {"a", 3, 4, sold}}, false},
		{"refused after it was sold", []op{{"a", 1, 2, sold}, {"b", 3, 4, refused}}, false},
	}
	for _, test := range tests {
		expectEqual(t, explained(oneSale{}, test.ops), test.want, test.what)
	}
}

// Whatever posts come for an auction side by side, under few keys and many, over
// a slow log, to a buyer that takes some and refuses others: it is as if they had
// come one after the other.
func TestPostsAreAsIfOneByOne(t *testing.T) {
	for seed := range uint64(150) {
		chance := rand.New(rand.NewPCG(seed, 3))
		trading(t, fmt.Sprintf("seed %d", seed), bidders(), func(t *testing.T, x *exchange) {
			refusing := chance.IntN(4)
			mood := rand.New(rand.NewPCG(seed, 4)) // the buyer's own
			x.world.behave = func(p *post) reply {
				after := time.Duration(mood.IntN(60)) * ms
				switch {
				case p.try == 1 && mood.IntN(8) == 0:
					return unreached
				case mood.IntN(4) < refusing:
					return refuses.in(after)
				}
				return accepts.in(after)
			}
			a := x.quoted(inquiry(1))
			x.log.slow(time.Duration(chance.IntN(3)*7) * ms)
			var count atomic.Int64
			ops := make([]op, 8)
			var all []*sale
			for i := range ops {
				p := postOf(chance.IntN(4), a)
				ops[i] = op{key: p.key, called: count.Add(1)}
				all = append(all, startCall(func() (engine.PostSaleAnswer, error) {
					defer func() { ops[i].done = count.Add(1) }()
					return x.sell(p)
				}, saidSale))
				if chance.IntN(2) == 0 {
					time.Sleep(time.Duration(chance.IntN(40)) * ms)
				}
			}
			for i, s := range all {
				ops[i].heard = wire(s)
			}
			if !explained(oneSale{}, ops) {
				t.Errorf("no order explains %+v", ops)
			}
		})
	}
}
