package engine_test

import (
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// An operator's late word about an old lead does not overwrite what is
// remembered of a newer one.
func TestLateSettlementKeepsTheNewerDuplicate(t *testing.T) {
	for _, how := range []event.PostSettlement{event.SettledConfirmed, event.SettledReleased} {
		bubble(t, how.String(), func(t *testing.T) {
			hour := anyOf
			hour.Window = int64(time.Hour)
			r := selling(market.Waterfall, buyer{id: "blue", posts: true})
			r.campaigns[0].duplicates = hour
			x := begin(t, r)
			x.world.script("blue", breaks)
			old, _ := x.send(person(1))
			time.Sleep(2 * time.Hour)
			x.world.script("blue", accepts)
			expectEqual(t, x.tell(person(1)), "blue", "two hours later")
			must.Succeed(t, x.engine.AsOperator("").ResolveUnconfirmedDelivery(old.Lead, how))
			expectEqual(t, x.tell(person(1)), "duplicate", "at once after the newer one")
		})
	}
}

// Retries after a restart are never further away than the schedule has them,
// whatever the clock did.
func TestRetryAfterAClockThatWentBack(t *testing.T) {
	trading(t, "", selling(market.Waterfall, buyer{id: "blue", posts: true}), func(t *testing.T, x *exchange) {
		x.world.script("blue", breaks, breaks, breaks, accepts)
		s := x.goSend(person(1))
		s.wait()
		time.Sleep(500 * ms)
		by := -48 * time.Hour
		x.tune = func(o *engine.Options) { o.Clock = shiftedClock{by: by} }
		x.crash()
		time.Sleep(time.Minute)
		if got := strings.Join(x.world.tried(), " "); !strings.HasPrefix(got, "blue@0s blue@1s blue@3s blue@7.5s") {
			t.Errorf("tried %s", got)
		}
	})
}

// What a buyer bought while its money was not limited is not on account.
func TestOpeningBalanceIsTheBalance(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := selling(market.Waterfall, buyer{id: "blue"})
		x := begin(t, r)
		for i := range 10 {
			x.tell(person(i))
		}
		r.buyers = []buyer{{id: "blue", funds: "50"}}
		x.configure(r)
		for i, want := range []string{"blue", "blue", "blue", "blue", "blue", "insufficient_funds"} {
			expectEqual(t, x.tell(person(100+i)), want, "lead ", i)
		}
	})
}

// shiftedClock is off by so much.
type shiftedClock struct {
	bubbleClock
	by time.Duration
}

func (c shiftedClock) Now() int64 { return c.bubbleClock.Now() + int64(c.by) }
