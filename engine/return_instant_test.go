package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
)

// A buyer gives back, twice, a lead that nobody knew to have arrived, in the
// instant in which operators say what has become of it. Whichever is first, the
// lead is paid for and paid back once at most (see ledger.changed), and no event
// is owed twice or out of order.
func TestReturnsInTheInstantOfAnOperatorsWord(t *testing.T) {
	words := []event.PostSettlement{event.SettledConfirmed, event.SettledReleased, event.SettledResent}
	for round := range 24 {
		bubble(t, fmt.Sprint(round), func(t *testing.T) {
			r := hooked(bought(returns(nil)))
			r.buyers[0].posts = true
			if round%2 == 1 {
				r.campaigns[0].returns = new(byHand(nil))
			}
			x := begin(t, r)
			x.world.script("blue", breaks)
			lost := x.sold(1)
			time.Sleep(5 * time.Minute)
			x.world.script("blue", []reply{accepts, refuses, breaks}[round%3])
			var all sync.WaitGroup
			for i := range 3 {
				how := words[(round+i)%3]
				all.Go(func() {
					time.Sleep(time.Duration(round/6*i) * ms)
					if err := x.engine.AsOperator("").ResolveUnconfirmedDelivery(lost.Lead, how); err != nil && !errors.Is(err, engine.ErrConflict) && !errors.Is(err, engine.ErrNotFound) {
						t.Error(err)
					}
				})
				all.Go(func() {
					time.Sleep(time.Duration(round%5*i) * ms)
					x.reported(saying(lost, []string{"returned", "returned", "sold"}[i]).withKey(fmt.Sprint("k", i)))
				})
				all.Go(func() {
					time.Sleep(time.Duration(round*i%7) * ms)
					_ = x.engine.AsOperator("").DecideReturn(lost.Lead, true, "")
				})
			}
			all.Wait()
			time.Sleep(10 * time.Minute)
			_ = x.engine.AsOperator("").DecideReturn(lost.Lead, true, "")
			seen := map[string]bool{}
			var order []string
			for _, owed := range x.owed() {
				if seen[owed] {
					t.Errorf("%s is owed twice", owed)
				}
				seen[owed] = true
				order = append(order, strings.Fields(owed)[0])
			}
			lead := x.lead(lost)
			want := map[string]string{
				"UNMATCHED": "100", "returned": "100", "sold": "90", "ACCEPTED": "90",
			}[lead.Status.String()]
			if lead.Delivery.String() == "unknown" {
				want = "100 of which is held 10"
			}
			expectEqual(t, x.balance("blue"), want, "at ", x.stands(lost), " blue has; ", order)
		})
	}
}
