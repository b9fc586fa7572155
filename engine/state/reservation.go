package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Reservation holds everything that one request has reserved. It belongs to the request
// until the request hands it to the committer with its event. From then on only the
// committer ends it. The zero Reservation is empty.
type Reservation struct {
	key        [16]byte
	hasKey     bool
	auction    [16]byte // name of the claimed auction
	hasAuction bool
	duplicates []market.DuplicateKey
	sale       saleReservation
}

// saleReservation is the part reserved for a sale to one buyer.
type saleReservation struct {
	charges  []event.Charge // that the event will make
	held     []event.Charge // the reserved part of each charge, in the same order
	buyer    market.Ref
	price    market.Money // reserved of the buyer's money; zero: the buyer's money is unlimited
	campaign market.Ref
	turn     event.Turn
}

// ReserveCaps reserves capacity for one lead at price in each cap, in their order
// (campaign, buyer, pair), all or none. The charges of the lead's own open post (back),
// which the same event gives back, count as free. Contended comes with the channel to wait
// on.
func (s *State) ReserveCaps(h *Reservation, limits []*market.Cap, price market.Money, back []event.Charge, now int64) (ReserveResult, <-chan struct{}) {
	for _, limit := range limits {
		amount := limit.AmountOfSale(price)
		result, held, wait := s.caps.cell(limit.Ref).reserve(limit, amount, findChargeOfCap(back, limit.Ref), now)
		if result != Reserved {
			s.releaseCharges(h)
			return result, wait
		}
		h.sale.charges = append(h.sale.charges, event.Charge{Cap: limit.Ref, Window: held.Window, Amount: amount})
		h.sale.held = append(h.sale.held, held)
		s.reservations.Add(1)
	}
	return Reserved, nil
}

func findChargeOfCap(back []event.Charge, ref market.Ref) event.Charge {
	for _, charge := range back {
		if charge.Cap == ref {
			return charge
		}
	}
	return event.Charge{}
}

// CapCharges returns the reserved caps in the form that the event needs.
func (h *Reservation) CapCharges() []event.Charge { return h.sale.charges }

func (s *State) releaseCharges(h *Reservation) {
	for _, held := range h.sale.held {
		s.caps.cell(held.Cap).release(held.Window, held.Amount)
		s.reservations.Add(-1)
	}
	h.sale.charges, h.sale.held = h.sale.charges[:0], h.sale.held[:0]
}

// ReserveFunds reserves price of the buyer's money.
func (s *State) ReserveFunds(h *Reservation, buyer *market.Buyer, price market.Money) (ReserveResult, <-chan struct{}) {
	if !buyer.Funded || price == 0 {
		return Reserved, nil
	}
	result, wait := s.accounts.reserve(buyer.Ref, price, buyer.Credit)
	if result == Reserved {
		h.sale.buyer, h.sale.price = buyer.Ref, price
		s.reservations.Add(1)
	}
	return result, wait
}

// ReserveTurn reserves the next turn among the members of a set.
func (s *State) ReserveTurn(h *Reservation, campaign market.Ref, set uint64, weights []int32) event.Turn {
	h.sale.campaign = campaign
	h.sale.turn = s.rotations.reserveTurn(campaign, set, weights)
	s.reservations.Add(1)
	return h.sale.turn
}

// PeekTurn returns the member with the next turn, without reserving it.
func (s *State) PeekTurn(campaign market.Ref, set uint64, weights []int32) (member uint32) {
	return s.rotations.peekTurn(campaign, set, weights)
}

// ReleaseSale ends the sale's part of h and keeps the rest.
func (s *State) ReleaseSale(h *Reservation) {
	s.releaseCharges(h)
	if h.sale.price != 0 {
		s.accounts.release(h.sale.buyer, h.sale.price)
		s.reservations.Add(-1)
	}
	if h.sale.turn.Set != 0 {
		s.rotations.releaseTurn(h.sale.campaign, h.sale.turn)
		s.reservations.Add(-1)
	}
	h.sale = saleReservation{charges: h.sale.charges, held: h.sale.held}
}

// ReleaseKey ends the claim on the idempotency key.
func (s *State) ReleaseKey(h *Reservation) {
	if h.hasKey {
		s.releaseKey(h.key)
		s.reservations.Add(-1)
		h.hasKey = false
	}
}

// ReleaseDuplicates ends the claims on the lead's values.
func (s *State) ReleaseDuplicates(h *Reservation) {
	if len(h.duplicates) > 0 {
		s.releaseDuplicates(h.duplicates)
		s.reservations.Add(-int64(len(h.duplicates)))
		h.duplicates = h.duplicates[:0]
	}
}

// ReleaseApplied ends all of h after its event was applied. The event has ended the turn
// already: between the two the turn would count twice, and a concurrent pick would skip
// its member.
func (s *State) ReleaseApplied(h *Reservation) {
	if h.sale.turn.Set != 0 {
		h.sale.turn = event.Turn{}
		s.reservations.Add(-1)
	}
	s.Release(h)
}

// Release ends all of h.
func (s *State) Release(h *Reservation) {
	s.ReleaseSale(h)
	s.ReleaseDuplicates(h)
	s.ReleaseAuction(h)
	s.ReleaseKey(h)
}

// TransferDuplicates moves h's claims on a lead's values to another reservation, which
// must have none.
func (h *Reservation) TransferDuplicates(to *Reservation) {
	to.duplicates = append(to.duplicates[:0], h.duplicates...)
	h.duplicates = h.duplicates[:0]
}

// Reservations returns the number of open reservations: zero when idle.
func (s *State) Reservations() int64 { return s.reservations.Load() }
