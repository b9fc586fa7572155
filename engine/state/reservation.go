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
	charges  []event.CapCharge // that the event will make
	held     []event.CapCharge // the reserved part of each charge, in the same order
	buyer    market.Ref
	price    market.Money // reserved of the buyer's money; zero: the buyer's money is unlimited
	campaign market.Ref
	turn     event.RotationTurn
}

// ReserveCaps reserves capacity for one lead at price in each cap, in their order
// (campaign, buyer, pair), all or none. The charges of the lead's own open post (givenBack),
// which the same event gives givenBack, count as free. Contended comes with the channel to wait
// on.
func (s *State) ReserveCaps(owner *Reservation, limits []*market.Cap, price market.Money, givenBack []event.CapCharge, now int64) (ReserveResult, <-chan struct{}) {
	for _, limit := range limits {
		amount := limit.AmountOfSale(price)
		result, held, wait := s.caps.counterOf(limit.Ref).reserveCapacity(limit, amount, findChargeOfCap(givenBack, limit.Ref), now)
		if result != Reserved {
			s.releaseCapReservations(owner)
			return result, wait
		}
		owner.sale.charges = append(owner.sale.charges, event.CapCharge{Cap: limit.Ref, Window: held.Window, Amount: amount})
		owner.sale.held = append(owner.sale.held, held)
		s.reservations.Add(1)
	}
	return Reserved, nil
}

func findChargeOfCap(charges []event.CapCharge, ref market.Ref) event.CapCharge {
	for _, charge := range charges {
		if charge.Cap == ref {
			return charge
		}
	}
	return event.CapCharge{}
}

// CapCharges returns the reserved caps in the form that the event needs.
func (h *Reservation) CapCharges() []event.CapCharge { return h.sale.charges }

func (s *State) releaseCapReservations(owner *Reservation) {
	for _, held := range owner.sale.held {
		s.caps.counterOf(held.Cap).releaseCapacity(held.Window, held.Amount)
		s.reservations.Add(-1)
	}
	owner.sale.charges, owner.sale.held = owner.sale.charges[:0], owner.sale.held[:0]
}

// ReserveFunds reserves price of the buyer's money.
func (s *State) ReserveFunds(owner *Reservation, buyer *market.Buyer, price market.Money) (ReserveResult, <-chan struct{}) {
	if !buyer.Funded || price == 0 {
		return Reserved, nil
	}
	result, wait := s.accounts.reserveFunds(buyer.Ref, price, buyer.Credit)
	if result == Reserved {
		owner.sale.buyer, owner.sale.price = buyer.Ref, price
		s.reservations.Add(1)
	}
	return result, wait
}

// ReserveTurn reserves the next turn among the members of a rotationID.
func (s *State) ReserveTurn(owner *Reservation, campaign market.Ref, rotationID uint64, weights []int32) event.RotationTurn {
	owner.sale.campaign = campaign
	owner.sale.turn = s.rotations.reserveTurn(campaign, rotationID, weights)
	s.reservations.Add(1)
	return owner.sale.turn
}

// PeekTurn returns the member with the next turn, without reserving it.
func (s *State) PeekTurn(campaign market.Ref, rotationID uint64, weights []int32) (member uint32) {
	return s.rotations.peekTurn(campaign, rotationID, weights)
}

// ReleaseSaleReservation ends the sale's part of owner and keeps the rest.
func (s *State) ReleaseSaleReservation(owner *Reservation) {
	s.releaseCapReservations(owner)
	if owner.sale.price != 0 {
		s.accounts.releaseFunds(owner.sale.buyer, owner.sale.price)
		s.reservations.Add(-1)
	}
	if owner.sale.turn.Set != 0 {
		s.rotations.releaseTurn(owner.sale.campaign, owner.sale.turn)
		s.reservations.Add(-1)
	}
	owner.sale = saleReservation{charges: owner.sale.charges, held: owner.sale.held}
}

// ReleaseIdempotencyKey ends the claim on the idempotency key.
func (s *State) ReleaseIdempotencyKey(owner *Reservation) {
	if owner.hasKey {
		s.endIdempotencyKeyClaim(owner.key)
		s.reservations.Add(-1)
		owner.hasKey = false
	}
}

// ReleaseDuplicateKeys ends the claims on the lead's values.
func (s *State) ReleaseDuplicateKeys(owner *Reservation) {
	if len(owner.duplicates) > 0 {
		s.endDuplicateKeyClaims(owner.duplicates)
		s.reservations.Add(-int64(len(owner.duplicates)))
		owner.duplicates = owner.duplicates[:0]
	}
}

// ReleaseAfterApply ends all of owner after its event was applied. The event has ended the turn
// already: between the two the turn would count twice, and a concurrent pick would skip
// its member.
func (s *State) ReleaseAfterApply(owner *Reservation) {
	if owner.sale.turn.Set != 0 {
		owner.sale.turn = event.RotationTurn{}
		s.reservations.Add(-1)
	}
	s.ReleaseAll(owner)
}

// ReleaseAll ends all of owner.
func (s *State) ReleaseAll(owner *Reservation) {
	s.ReleaseSaleReservation(owner)
	s.ReleaseDuplicateKeys(owner)
	s.ReleaseAuctionClaim(owner)
	s.ReleaseIdempotencyKey(owner)
}

// TransferDuplicateKeys moves h's claims on a lead's values to another reservation, which
// must have none.
func (h *Reservation) TransferDuplicateKeys(to *Reservation) {
	to.duplicates = append(to.duplicates[:0], h.duplicates...)
	h.duplicates = h.duplicates[:0]
}

// ReservationCount returns the number of open reservations: zero when idle.
func (s *State) ReservationCount() int64 { return s.reservations.Load() }
