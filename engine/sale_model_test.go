package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// Whatever posts come for an auction side by side, under few keys and many, over
// a slow log, to a buyer that takes some and refuses others: each key gets one answer,
// and the audit sees that the auction sells one lead.
func TestPostsSideBySide(t *testing.T) {
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
			var posts []posting
			var all []*sale
			for range 8 {
				p := postOf(chance.IntN(4), a)
				posts, all = append(posts, p), append(all, x.goSell(p))
				if chance.IntN(2) == 0 {
					time.Sleep(time.Duration(chance.IntN(40)) * ms)
				}
			}
			oneAnswerAKey(t, posts, all)
		})
	}
}
