package state

import (
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

func saleOf(buyer market.PermanentNumber, price market.Money, charges []event.CapCharge) *event.Sale {
	return &event.Sale{Buyer: buyer, Price: price, Payout: price / 2, Charges: charges}
}

// An account against its definition: what is free is the balance and the credit
// less what open posts hold; what requests reserve only blocks.
func TestAccountKeepsToItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		buyer := &market.Buyer{Ref: 2, Funded: rapid.IntRange(0, 9).Draw(t, "limited") > 0}
		buyer.Credit = market.Money(rapid.IntRange(0, 3).Draw(t, "credit"))
		var balance, held, reserved market.Money
		var out []*RequestReservations
		var open []market.Money
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "which") }
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch step := rapid.IntRange(0, 9).Draw(t, "step"); {
			case step == 0:
				amount := market.Money(rapid.IntRange(-3, 6).Draw(t, "amount"))
				w.fact(&event.BuyerFundsAdjusted{Buyer: 2, Amount: amount})
				balance += amount
			case step == 1 && len(out) > 0: // given up
				i := pick(len(out))
				reserved -= out[i].sale.price
				w.ReleaseAll(out[i])
				out = append(out[:i], out[i+1:]...)
			case step <= 3 && len(out) > 0: // recorded, or posted
				i := pick(len(out))
				price := out[i].sale.price
				posted := pick(2) == 0
				w.chargeCapsTurnAndFunds(w.seq+1, 1, saleOf(2, price, nil), posted)
				if posted {
					held += price
					open = append(open, price)
				} else {
					balance -= price
				}
				reserved -= price
				w.ReleaseAll(out[i])
				out = append(out[:i], out[i+1:]...)
			case step <= 5 && len(open) > 0: // delivered, or refused
				i := pick(len(open))
				how := event.SettledDelivered
				if pick(2) == 0 {
					how = event.SettledRefused
				} else {
					balance -= open[i]
				}
				held -= open[i]
				w.fact(&event.PostSettled{Settlement: how, Sale: *saleOf(2, open[i], nil)})
				open = append(open[:i], open[i+1:]...)
			default:
				price := market.Money(rapid.IntRange(0, 4).Draw(t, "price"))
				h := new(RequestReservations)
				room, wait := w.ReserveFunds(h, buyer, price)
				free := balance + buyer.Credit - held
				want := Reserved
				switch {
				case !buyer.Funded || price == 0:
				case price > free:
					want = Full
				case price > free-reserved:
					want = Contended
				}
				if room != want || (wait != nil) != (room == Contended) {
					t.Fatalf("room %d, want %d: price %d, balance %d, credit %d, held %d, reserved %d", room, want, price, balance, buyer.Credit, held, reserved)
				}
				if h.sale.price > 0 {
					reserved += price
					out = append(out, h)
				}
				if short := w.LacksFunds(buyer, price); short != (want == Full) {
					t.Fatalf("short %t, room %d", short, want)
				}
			}
			if b, h := w.BuyerBalance(2); b != balance || h != held {
				t.Fatalf("balance %d held %d, want %d and %d", b, h, balance, held)
			}
			if n := w.ReservationCount(); n != int64(len(out)) {
				t.Fatalf("%d reservations, %d are out", n, len(out))
			}
		}
	})
}

func TestAnAccountIsOpenedOnce(t *testing.T) {
	w := newWorld()
	if !w.BuyerFunds(1).Opened || w.BuyerFunds(2).Opened || w.BuyerFunds(99).Opened {
		t.Errorf("opened: %t %t %t", w.BuyerFunds(1).Opened, w.BuyerFunds(2).Opened, w.BuyerFunds(99).Opened)
	}
	w.fact(&event.BuyerFundsAdjusted{Buyer: 2, Amount: 5 * dollar})
	if w.BuyerFunds(2).Opened {
		t.Error("a top-up opened an account")
	}
	w.fact(&event.BuyerFundsAdjusted{Buyer: 3, Opening: true}) // with nothing in it
	if balance, _ := w.BuyerBalance(3); !w.BuyerFunds(3).Opened || balance != 0 {
		t.Errorf("opened %t with %s", w.BuyerFunds(3).Opened, balance)
	}
	again := New()
	replay(again, w.log, w.seq)
	if !again.BuyerFunds(3).Opened || again.BuyerFunds(2).Opened {
		t.Error("after a restart other accounts are open")
	}
}

func TestAnAccountNobodyHasIsEmpty(t *testing.T) {
	w := newWorld()
	_, before := w.Hash()
	if balance, held := w.BuyerBalance(77); balance != 0 || held != 0 {
		t.Errorf("%s, %s held", balance, held)
	}
	var h RequestReservations
	if room, _ := w.ReserveFunds(&h, &market.Buyer{Ref: 77, Funded: true}, dollar); room != Full {
		t.Errorf("room %d without money", room)
	}
	if _, after := w.Hash(); after != before {
		t.Error("a look changed the state's hash")
	}
}
