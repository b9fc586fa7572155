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

// concurrentSales runs 64 requests at a time that sell to one buyer under three caps and its
// money. Some sales are released, some are refused later. The cap windows change all the time,
// and requests have different clocks.
type concurrentSales struct {
	*testExchange
	committer  sync.Mutex
	clock      atomic.Int64
	sold       map[event.CapCharge]int64 // by cap and window, with amount 0
	spent      market.Money
	rejections atomic.Int64
	waits      atomic.Int64
}

// commit logs an event and ends its reservations, as the committer does. Then it checks the caps
// and the buyer's money.
func (m *concurrentSales) commit(t *testing.T, e event.Event, h *RequestReservations, sale *event.Sale, sign int64) {
	m.committer.Lock()
	defer m.committer.Unlock()
	m.at = max(m.at, m.clock.Load())
	m.logAndApply(e)
	if h != nil {
		m.ReleaseAll(h)
	}
	for _, charge := range sale.Charges {
		at := event.CapCharge{Cap: charge.Cap, Window: charge.Window}
		m.sold[at] += sign * charge.Amount
		if limit := m.capsByBuyer[1][charge.Cap-1]; m.sold[at] > limit.Limit {
			t.Errorf("cap %d: %d sold in the window at %d, the limit is %d", charge.Cap, m.sold[at], charge.Window, limit.Limit)
		}
	}
	m.spent += market.Money(sign) * sale.Price
	if balance, held := m.BuyerBalance(1); balance-held < -m.buyers[0].Credit {
		t.Errorf("the buyer has a balance of %s, of which %s is held, and a credit of %s", balance, held, m.buyers[0].Credit)
	}
}

// request makes one sale, or ends if there is no capacity. While only other requests are in its
// way, it waits for them.
func (m *concurrentSales) request(t *testing.T, id uint64, random *rand.Rand) {
	buyer := m.buyers[0]
	price := market.Money(1+random.IntN(4)) * dollar
	var h RequestReservations
	now := m.clock.Add(int64(random.IntN(3)) * int64(time.Minute))
	time.Sleep(time.Duration(random.IntN(5)) * time.Millisecond) // a slow request: its window may be over
	for {
		result, wait := m.ReserveAllCaps(&h, m.capsByBuyer[1], price, nil, now)
		if result == Reserved {
			result, wait = m.ReserveFunds(&h, buyer, price)
		}
		if result == Reserved {
			break
		}
		m.ReleaseCapsFundsAndTurn(&h)
		if result == Full {
			m.rejections.Add(1)
			return
		}
		m.waits.Add(1)
		<-wait
		now = max(now, m.clock.Load())
	}
	time.Sleep(time.Duration(random.IntN(5)) * time.Millisecond) // lets other requests run
	if random.IntN(4) == 0 {
		m.ReleaseAll(&h)
		return
	}
	sale := event.Sale{Buyer: buyer.Ref, Price: price, Charges: h.CapChargesForEvent()}
	lead := &event.LeadDecided{Lead: [16]byte{8: byte(id), 9: byte(id >> 8), 15: byte(id)}, Campaign: 1, Supplier: 1, Decided: now, Keep: now + day}
	lead.Sale.CopyFrom(&sale)
	posted := random.IntN(2) == 0
	if posted {
		lead.Post.URL = "https://buyer.example"
	}
	m.commit(t, lead, &h, &lead.Sale, 1)
	if posted {
		settled := &event.PostSettled{Lead: lead.Lead, Campaign: 1, Settlement: event.SettledDelivered}
		settled.Sale.CopyFrom(&lead.Sale)
		none := event.Sale{}
		if random.IntN(3) == 0 {
			settled.Settlement = event.SettledRefused
			m.commit(t, settled, nil, &settled.Sale, -1)
		} else {
			m.commit(t, settled, nil, &none, 0)
		}
	}
}

// The bubble fails by a deadlock if a request is never woken.
func TestCapsAndFundsHoldUnderConcurrentSales(t *testing.T) {
	for _, scale := range []int64{1, 7, 1000} {
		synctest.Test(t, func(t *testing.T) {
			m := &concurrentSales{testExchange: newTestExchange(), sold: map[event.CapCharge]int64{}}
			m.clock.Store(monday)
			m.capsByBuyer[1][0].Limit, m.capsByBuyer[1][1].Limit, m.capsByBuyer[1][2].Limit = 40*scale, 4*scale*int64(dollar), 400*scale
			m.logAndApply(&event.BuyerFundsAdjusted{Buyer: 1, Amount: market.Money(scale) * 20 * dollar})
			m.buyers[0].Credit = 3 * dollar
			opening := 500*dollar + market.Money(scale)*20*dollar
			var all sync.WaitGroup
			for g := range uint64(64) {
				all.Go(func() {
					random := rand.New(rand.NewPCG(g, uint64(scale)))
					for n := range uint64(40) {
						m.request(t, g*40+n, random)
					}
				})
			}
			all.Wait()
			if n := m.ReservationCount(); n != 0 {
				t.Errorf("%d reservations are left, want 0", n)
			}
			if balance, held := m.BuyerBalance(1); held != 0 || balance != opening-m.spent {
				t.Errorf("balance %s, held %s, after %s spent of %s", balance, held, m.spent, opening)
			}
			live, hash := m.Hash()
			restored := New()
			replay(restored, m.log, live)
			if _, replayed := restored.Hash(); replayed != hash {
				t.Error("the replayed state differs")
			}
			t.Logf("scale %d: %d rejections, %d waits", scale, m.rejections.Load(), m.waits.Load())
		})
	}
}

// Two requests compete for one unit of capacity. Only the end of the first one can wake the
// second.
func TestReleaseWakesBlockedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestExchange()
		limit := []*market.Cap{{Ref: 3, Unit: market.UnitCount, Period: calendar.Total, Zone: time.UTC, Limit: 1}}
		buyer := &market.Buyer{Ref: 2, Funded: true, Credit: dollar}
		reserves := []func(h *RequestReservations) (ReserveResult, <-chan struct{}){
			func(h *RequestReservations) (ReserveResult, <-chan struct{}) {
				return x.ReserveAllCaps(h, limit, 0, nil, monday)
			},
			func(h *RequestReservations) (ReserveResult, <-chan struct{}) { return x.ReserveFunds(h, buyer, dollar) },
		}
		for round := range 20_000 {
			reserve := reserves[round%len(reserves)]
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() {
					var h RequestReservations
					for result, wait := reserve(&h); result != Reserved; result, wait = reserve(&h) {
						<-wait
					}
					x.ReleaseAll(&h)
				})
			}
			both.Wait()
		}
	})
}
