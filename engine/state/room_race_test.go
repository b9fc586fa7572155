package state

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// market64 is 64 requests at a time that sell to one buyer under three caps and
// its money. Some sales are given up, some come back later; the hour strikes all
// the time, and not every request has heard it.
type market64 struct {
	*world
	committer sync.Mutex
	clock     atomic.Int64
	sold      map[event.CapCharge]int64 // by cap and window; Amount zero
	spent     market.Money
	full      atomic.Int64
	waited    atomic.Int64
}

// commit logs a fact and lets the reservations it was taken under go, as the
// one committer does; then it looks whether any promise was broken.
func (m *market64) commit(t *testing.T, e event.Event, h *RequestReservations, sale *event.Sale, sign int64) {
	m.committer.Lock()
	defer m.committer.Unlock()
	m.at = max(m.at, m.clock.Load())
	m.fact(e)
	if h != nil {
		m.ReleaseAll(h)
	}
	for _, charge := range sale.Charges {
		at := event.CapCharge{Cap: charge.Cap, Window: charge.Window}
		m.sold[at] += sign * charge.Amount
		if limit := m.limits[1][charge.Cap-1]; m.sold[at] > limit.Limit {
			t.Errorf("cap %d: %d sold in the window at %d, the limit is %d", charge.Cap, m.sold[at], charge.Window, limit.Limit)
		}
	}
	m.spent += market.Money(sign) * sale.Price
	if balance, held := m.BuyerBalance(1); balance-held < -m.buyers[0].Credit {
		t.Errorf("the buyer has %s, of which %s is held, and a credit of %s", balance, held, m.buyers[0].Credit)
	}
}

// request makes one sale, or finds that there is no room. Where only others are
// in its way it waits for them: for ever, if nobody wakes it.
func (m *market64) request(t *testing.T, id uint64, dice *rand.Rand) {
	buyer := m.buyers[0]
	price := market.Money(1+dice.IntN(4)) * dollar
	var h RequestReservations
	now := m.clock.Add(int64(dice.IntN(3)) * int64(time.Minute))
	time.Sleep(time.Duration(dice.IntN(5)) * time.Millisecond) // a slow request: its hour may be over
	for {
		room, wait := m.ReserveAllCaps(&h, m.limits[1], price, nil, now)
		if room == Reserved {
			room, wait = m.ReserveFunds(&h, buyer, price)
		}
		if room == Reserved {
			break
		}
		m.ReleaseCapsFundsAndTurn(&h)
		if room == Full {
			m.full.Add(1)
			return
		}
		m.waited.Add(1)
		<-wait
		now = max(now, m.clock.Load())
	}
	time.Sleep(time.Duration(dice.IntN(5)) * time.Millisecond) // of the bubble: others come meanwhile
	if dice.IntN(4) == 0 {
		m.ReleaseAll(&h)
		return
	}
	sale := event.Sale{Buyer: buyer.Ref, Price: price, Charges: h.CapCharges()}
	lead := &event.LeadDecided{Lead: [16]byte{8: byte(id), 9: byte(id >> 8), 15: byte(id)}, Campaign: 1, Supplier: 1, Decided: now, Keep: now + day}
	lead.Sale.CopyFrom(&sale)
	posted := dice.IntN(2) == 0
	if posted {
		lead.Post.URL = "https://buyer.example"
	}
	m.commit(t, lead, &h, &lead.Sale, 1)
	if posted {
		settled := &event.PostSettled{Lead: lead.Lead, Campaign: 1, Settlement: event.SettledDelivered}
		settled.Sale.CopyFrom(&lead.Sale)
		none := event.Sale{}
		if dice.IntN(3) == 0 {
			settled.Settlement = event.SettledRefused
			m.commit(t, settled, nil, &settled.Sale, -1)
		} else {
			m.commit(t, settled, nil, &none, 0)
		}
	}
}

// A deadlock within the bubble is a request that nobody woke.
func TestNoPromiseIsBrokenAmong64Requests(t *testing.T) {
	for _, tight := range []int64{1, 7, 1000} {
		synctest.Test(t, func(t *testing.T) {
			m := &market64{world: newWorld(), sold: map[event.CapCharge]int64{}}
			m.clock.Store(monday)
			m.limits[1][0].Limit, m.limits[1][1].Limit, m.limits[1][2].Limit = 40*tight, 4*tight*int64(dollar), 400*tight
			m.fact(&event.BuyerFundsAdjusted{Buyer: 1, Amount: market.Money(tight) * 20 * dollar})
			m.buyers[0].Credit = 3 * dollar
			opening := 500*dollar + market.Money(tight)*20*dollar
			var all sync.WaitGroup
			for g := range uint64(64) {
				all.Go(func() {
					dice := rand.New(rand.NewPCG(g, uint64(tight)))
					for n := range uint64(40) {
						m.request(t, g*40+n, dice)
					}
				})
			}
			all.Wait()
			if n := m.ReservationCount(); n != 0 {
				t.Errorf("%d reservations are out when all is done", n)
			}
			if balance, held := m.BuyerBalance(1); held != 0 || balance != opening-m.spent {
				t.Errorf("balance %s of which %s held, %s spent of %s", balance, held, m.spent, opening)
			}
			live, hash := m.Hash()
			again := New()
			replay(again, m.log, live)
			if _, replayed := again.Hash(); replayed != hash {
				t.Error("the replay of what 64 requests did is another state")
			}
			t.Logf("tightness %d: %d found no room, %d waits", tight, m.full.Load(), m.waited.Load())
		})
	}
}

// Two requests for one place: the one that is blocked is woken by the end of the
// other, and nobody else is there to do it.
func TestWhoIsBlockedIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		limit := []*market.Cap{{Ref: 3, Unit: market.UnitCount, Period: calendar.Total, Zone: time.UTC, Limit: 1}}
		buyer := &market.Buyer{Ref: 2, Funded: true, Credit: dollar}
		takes := []func(h *RequestReservations) (ReserveResult, <-chan struct{}){
			func(h *RequestReservations) (ReserveResult, <-chan struct{}) {
				return w.ReserveAllCaps(h, limit, 0, nil, monday)
			},
			func(h *RequestReservations) (ReserveResult, <-chan struct{}) { return w.ReserveFunds(h, buyer, dollar) },
		}
		for round := range 20_000 {
			take := takes[round%len(takes)]
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() {
					var h RequestReservations
					for room, wait := take(&h); room != Reserved; room, wait = take(&h) {
						<-wait
					}
					w.ReleaseAll(&h)
				})
			}
			both.Wait()
		}
	})
}
