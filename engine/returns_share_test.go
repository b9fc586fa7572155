package engine_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// A lead whose buyer reports that it has it counts among those that this buyer
// got, also where nobody knew so until then.
func TestShareCountsTheLeadThatComesBack(t *testing.T) {
	for _, test := range []struct {
		what  string
		share market.ShareInMillionths
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
			expectEqual(t, x.stands(lost), "ACCEPTED unknown")
			expectEqual(t, x.reported(saying(lost, "returned")), test.want)
		})
	}
}

// Test leads that come back take none of the share, in one batch with others
// either.
func TestReturnedTestsTakeNoShare(t *testing.T) {
	trading(t, "", bought(returns(func(r *market.ReturnRule) { r.MaxShare = 500_000 })).testable(), func(t *testing.T, x *exchange) {
		tried := must.Value(x.send(person(1).asTest()))(t)
		a, b := x.sold(2), x.sold(3)
		expectEqual(t, saidStatus(x.reportAll(saying(tried, "returned"), saying(a, "returned"), saying(b, "returned"))), "returned, returned, no: share")
	})
}

// What names no lead is nobody's, and nobody waits for it.
func TestReportsOnNoLeadWaitForNobody(t *testing.T) {
	trading(t, "", bought(returns(nil)), func(t *testing.T, x *exchange) {
		var leads []engine.IngestAnswer
		for n := range 5 {
			leads = append(leads, x.sold(n))
		}
		x.log.slow(2 * time.Second)
		var all sync.WaitGroup
		for i, a := range leads {
			all.Go(func() {
				nobody := saying(a, "sold")
				nobody.lead = fmt.Sprint("lead_", i)
				expectEqual(t, saidStatus(x.reportAll(nobody, saying(a, "sold"))), "not_found, sold")
			})
		}
		all.Wait()
	})
}
