package state

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// door is what the engine keeps of its questions: the answers, the version of
// the facts they rest on, and the hour at which they end.
type door struct {
	full    []bool
	short   []bool
	paused  []bool
	version uint64
	until   int64
	known   bool
}

func (d *door) stands(version uint64, now int64) bool {
	return d.known && d.version == version && now < d.until
}

// look asks as the engine does: the version first, then everything.
func (d *door) look(w *world, caps []*market.Cap, price market.Money) {
	*d = door{known: true, version: w.AvailabilityVersion(), until: math.MaxInt64}
	for _, limit := range caps {
		full, until := w.IsCapFull(limit, price, w.at)
		d.full = append(d.full, full)
		d.until = min(d.until, until)
	}
	for _, buyer := range w.buyers {
		d.short = append(d.short, w.LacksFunds(buyer, price))
		paused, _ := w.PauseStatus(2, buyer.Ref)
		d.paused = append(d.paused, paused)
	}
}

// truth answers the same from what facts have made, without leaving a trace in
// the state: a look there makes it watch more closely.
func (d *door) truth(w *world, caps []*market.Cap, price market.Money) (wrong string) {
	for i, limit := range caps {
		cell := w.caps.counterOf(limit.Ref)
		window, _ := limit.Period.WindowContaining(w.at, limit.Zone)
		used := int64(0)
		if cell.window >= window {
			used = cell.used
		}
		if full := used > limit.Limit-limit.AmountUsedBySale(price); full != d.full[i] {
			return "whether a cap is full"
		}
	}
	for i, buyer := range w.buyers {
		balance, held := w.BuyerBalance(buyer.Ref)
		if short := buyer.Funded && price > 0 && balance-held+buyer.Credit < price; short != d.short[i] {
			return "whether money is short"
		}
		if paused := w.settings.paused[pausableObject{2, buyer.Ref}]; paused != d.paused[i] {
			return "a pause"
		}
	}
	return ""
}

// As long as the version and the hour stand, so do the answers. Several ask, at
// several prices and with several limits on one cap (a configuration and the
// next one), and each keeps what it heard.
func TestKeptAnswersAreRightWhileTheVersionStands(t *testing.T) {
	moved, stood := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := newTrader(t)
		w.fact(&event.BuyerFundsAdjusted{Buyer: 1, Amount: -470 * dollar}) // so that it runs out
		prices := []market.Money{0, 1 * dollar, 7 * dollar}
		other := *w.limits[1][0]
		other.Limit = 3
		caps := [][]*market.Cap{w.limits[1], {&other, {Ref: 2, Unit: market.UnitMoney, Period: calendar.Hour, Zone: time.UTC, Limit: int64(9 * dollar)}}}
		kept := make([]door, len(prices)*len(caps))
		for range 80 {
			w.step()
			for i := range kept {
				of, price := caps[i%len(caps)], prices[i/len(caps)]
				if kept[i].stands(w.AvailabilityVersion(), w.at) {
					stood++
					if wrong := kept[i].truth(w.world, of, price); wrong != "" {
						t.Fatalf("the kept answer is wrong about %s", wrong)
					}
				} else if w.draw(3) > 0 { // not everybody asks again at once
					moved++
					kept[i].look(w.world, of, price)
					if wrong := kept[i].truth(w.world, of, price); wrong != "" {
						t.Fatalf("a fresh answer is wrong about %s", wrong)
					}
				}
			}
		}
	})
	if moved == 0 || stood < moved {
		t.Errorf("answers stood %d times and were asked for again %d times: keeping them is no use", stood, moved)
	}
}

func TestTheVersionMovesOnlyWhenADoorMay(t *testing.T) {
	w := newWorld()
	sell := func() {
		h := new(RequestReservations)
		w.ReserveAllCaps(h, w.limits[1][:1], dollar, nil, w.at)
		w.chargeCapsTurnAndFunds(w.seq+1, 1, saleOf(1, dollar, h.CapCharges()), false)
		w.ReleaseAll(h)
	}
	w.IsCapFull(w.limits[1][0], dollar, w.at)
	w.LacksFunds(w.buyers[0], dollar)
	before := w.AvailabilityVersion()
	for range w.limits[1][0].Limit - 1 {
		sell()
	}
	if w.AvailabilityVersion() != before {
		t.Error("the version moved, and the cap has room")
	}
	sell()
	if w.AvailabilityVersion() == before {
		t.Error("the cap is full, and the version stands")
	}
}
