package engine_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
)

// A lead whose buyer reports that it has it counts among those that this buyer
// got, also where nobody knew so until then.
func TestShareCountsTheLeadThatComesBack(t *testing.T) {
	for _, test := range []struct {
		what  string
		share market.PriceShare
		want  string
	}{
		{"half of two", 500_000, "returned"},
		{"less than half", 499_999, "no: share"},
	} {
		bubble(t, test.what, func(t *testing.T) {
			r := bought(returns(func(r *market.ReturnRule) { r.MaxShare = test.share }))
			r.buyers[0].posts = true
			x := begin(t, r)
			x.sold(1)
			x.world.script("blue", breaks)
			lost := x.sold(2)
			time.Sleep(5 * time.Minute)
			if got := x.stands(lost); got != "ACCEPTED unknown" {
				t.Fatal(got)
			}
			if got := x.reported(saying(lost, "returned")); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// Test leads that come back take none of the share, in one batch with others
// either.
func TestReturnedTestsTakeNoShare(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		x := begin(t, bought(returns(func(r *market.ReturnRule) { r.MaxShare = 500_000 })).testable())
		tried, err := x.send(person(1).asTest())
		if err != nil {
			t.Fatal(err)
		}
		a, b := x.sold(2), x.sold(3)
		if got := saidStatus(x.reportAll(saying(tried, "returned"), saying(a, "returned"), saying(b, "returned"))); got != "returned, returned, no: share" {
			t.Error(got)
		}
	})
}

// What names no lead is nobody's, and nobody waits for it.
func TestReportsOnNoLeadWaitForNobody(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		x := begin(t, bought(returns(nil)))
		var leads []engine.Answer
		for n := range 5 {
			leads = append(leads, x.sold(n))
		}
		x.log.slow(2 * time.Second)
		var all sync.WaitGroup
		for i, a := range leads {
			all.Go(func() {
				nobody := saying(a, "sold")
				nobody.lead = fmt.Sprint("lead_", i)
				if got := saidStatus(x.reportAll(nobody, saying(a, "sold"))); got != "not_found, sold" {
					t.Error(got)
				}
			})
		}
		all.Wait()
	})
}
