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

// Free funds are balance plus credit less the amounts of open posts. Reservations of requests
// only make other requests wait.
func TestAccountMatchesModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newTestExchange()
		buyer := &market.Buyer{Ref: 2, Funded: rapid.IntRange(0, 9).Draw(t, "limited") > 0}
		buyer.Credit = market.Money(rapid.IntRange(0, 3).Draw(t, "credit"))
		var balance, held, reserved market.Money
		var pending []*RequestReservations
		var open []market.Money
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "which") }
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch step := rapid.IntRange(0, 9).Draw(t, "step"); {
			case step == 0:
				amount := market.Money(rapid.IntRange(-3, 6).Draw(t, "amount"))
				x.logAndApply(&event.BuyerFundsAdjusted{Buyer: 2, Amount: amount})
				balance += amount
			case step == 1 && len(pending) > 0: // released
				i := pick(len(pending))
				reserved -= pending[i].sale.price
				x.ReleaseAll(pending[i])
				pending = append(pending[:i], pending[i+1:]...)
			case step <= 3 && len(pending) > 0: // recorded, or posted
				i := pick(len(pending))
				price := pending[i].sale.price
				posted := pick(2) == 0
				x.chargeSaleToCapsRotationAndFunds(x.seq+1, 1, saleOf(2, price, nil), posted)
				if posted {
					held += price
					open = append(open, price)
				} else {
					balance -= price
				}
				reserved -= price
				x.ReleaseAll(pending[i])
				pending = append(pending[:i], pending[i+1:]...)
			case step <= 5 && len(open) > 0: // delivered, or refused
				i := pick(len(open))
				how := event.SettledDelivered
				if pick(2) == 0 {
					how = event.SettledRefused
				} else {
					balance -= open[i]
				}
				held -= open[i]
				x.logAndApply(&event.PostSettled{Settlement: how, Sale: *saleOf(2, open[i], nil)})
				open = append(open[:i], open[i+1:]...)
			default:
				price := market.Money(rapid.IntRange(0, 4).Draw(t, "price"))
				h := new(RequestReservations)
				result, wait := x.ReserveFunds(h, buyer, price)
				free := balance + buyer.Credit - held
				want := Reserved
				switch {
				case !buyer.Funded || price == 0:
				case price > free:
					want = Full
				case price > free-reserved:
					want = Contended
				}
				if result != want || (wait != nil) != (result == Contended) {
					t.Fatalf("got result %d, want %d: price %d, balance %d, credit %d, held %d, reserved %d", result, want, price, balance, buyer.Credit, held, reserved)
				}
				if h.sale.price > 0 {
					reserved += price
					pending = append(pending, h)
				}
				if lacks := x.LacksFunds(buyer, price); lacks != (want == Full) {
					t.Fatalf("LacksFunds %t, result %d", lacks, want)
				}
			}
			if b, h := x.BuyerBalance(2); b != balance || h != held {
				t.Fatalf("balance %d held %d, want %d and %d", b, h, balance, held)
			}
			if n := x.ReservationCount(); n != int64(len(pending)) {
				t.Fatalf("%d reservations, want %d", n, len(pending))
			}
		}
	})
}

func TestOpeningEventOpensAccount(t *testing.T) {
	x := newTestExchange()
	if !x.AppliedBuyerFunds(1).Opened || x.AppliedBuyerFunds(2).Opened || x.AppliedBuyerFunds(99).Opened {
		t.Errorf("opened %t %t %t, want true false false", x.AppliedBuyerFunds(1).Opened, x.AppliedBuyerFunds(2).Opened, x.AppliedBuyerFunds(99).Opened)
	}
	x.logAndApply(&event.BuyerFundsAdjusted{Buyer: 2, Amount: 5 * dollar})
	if x.AppliedBuyerFunds(2).Opened {
		t.Error("a top-up opened an account")
	}
	x.logAndApply(&event.BuyerFundsAdjusted{Buyer: 3, Opening: true}) // with an amount of 0
	if balance, _ := x.BuyerBalance(3); !x.AppliedBuyerFunds(3).Opened || balance != 0 {
		t.Errorf("opened %t with %s", x.AppliedBuyerFunds(3).Opened, balance)
	}
	restored := New()
	replay(restored, x.log, x.seq)
	if !restored.AppliedBuyerFunds(3).Opened || restored.AppliedBuyerFunds(2).Opened {
		t.Error("after a replay other accounts are open")
	}
}

func TestUnknownAccountIsEmpty(t *testing.T) {
	x := newTestExchange()
	_, before := x.Hash()
	if balance, held := x.BuyerBalance(77); balance != 0 || held != 0 {
		t.Errorf("balance %s, held %s, want 0", balance, held)
	}
	var h RequestReservations
	if result, _ := x.ReserveFunds(&h, &market.Buyer{Ref: 77, Funded: true}, dollar); result != Full {
		t.Errorf("got result %d without money, want Full", result)
	}
	if _, after := x.Hash(); after != before {
		t.Error("a query changed the hash")
	}
}
