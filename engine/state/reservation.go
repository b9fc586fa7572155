package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Reservation holds everything that one request has reserved: keys, caps, funds and a turn. It
// belongs to the request until the request hands it to the committer with its event. From then on
// only the committer ends it. The zero Reservation is empty.
type Reservation struct {
	key        [16]byte
	hasKey     bool
	auction    [16]byte // name of the claimed auction
	hasAuction bool
	duplicates []market.DuplicateKey
	sale       saleReservation
}

// saleReservation is the part of a Reservation that a sale to one buyer needs.
type saleReservation struct {
	charges  []event.CapCharge // that the event will make
	held     []event.CapCharge // the reserved part of each charge, in the same order
	buyer    market.Ref
	price    market.Money // reserved of the buyer's money; zero: the buyer's money is unlimited
	campaign market.Ref
	turn     event.RotationTurn
}

// ReserveCaps reserves capacity for one lead at price in all caps of limits, or in none. limits
// are in the order campaign, buyer, pair. givenBack lists the charges of the lead's previous,
// refused sale. The same event gives them back, so their capacity counts as free.
//
// Contended comes with a channel that closes at the next change of the cap that lacks capacity.
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

// findChargeOfCap returns the element of charges for the cap ref, or a zero charge.
func findChargeOfCap(charges []event.CapCharge, ref market.Ref) event.CapCharge {
	for _, charge := range charges {
		if charge.Cap == ref {
			return charge
		}
	}
	return event.CapCharge{}
}

// CapCharges returns the charges that the sale's event must record for the reserved caps.
func (h *Reservation) CapCharges() []event.CapCharge { return h.sale.charges }

// releaseCapReservations ends all cap reservations of owner.
func (s *State) releaseCapReservations(owner *Reservation) {
	for _, held := range owner.sale.held {
		s.caps.counterOf(held.Cap).releaseCapacity(held.Window, held.Amount)
		s.reservations.Add(-1)
	}
	owner.sale.charges, owner.sale.held = owner.sale.charges[:0], owner.sale.held[:0]
}

// ReserveFunds reserves price of the buyer's money. A buyer with unlimited money (not Funded)
// needs no reservation. Contended comes with a channel that closes at the account's next change.
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

// ReserveTurn reserves the next turn of a round-robin or weighted campaign for one of its
// eligible buyers. rotationID is a hash of these buyers and their weights; weights lists the
// weights in a fixed order. The result's Member is the chosen buyer's index in weights.
func (s *State) ReserveTurn(owner *Reservation, campaign market.Ref, rotationID uint64, weights []int32) event.RotationTurn {
	owner.sale.campaign = campaign
	owner.sale.turn = s.rotations.reserveTurn(campaign, rotationID, weights)
	s.reservations.Add(1)
	return owner.sale.turn
}

// PeekTurn returns which buyer would get the campaign's next turn, and reserves no turn.
// rotationID is a hash of the eligible buyers and their weights. member is the buyer's index in
// weights.
func (s *State) PeekTurn(campaign market.Ref, rotationID uint64, weights []int32) (member uint32) {
	return s.rotations.peekTurn(campaign, rotationID, weights)
}

// ReleaseSaleReservation ends the caps, funds and turn that owner has reserved. Claims on the
// idempotency key, the auction and duplicate values stay, so that the request can try another
// buyer.
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

// ReleaseIdempotencyKey ends owner's claim on its idempotency key, if owner has one.
func (s *State) ReleaseIdempotencyKey(owner *Reservation) {
	if owner.hasKey {
		s.idempotency[shardIndex(&owner.key)].endClaim(owner.key)
		s.reservations.Add(-1)
		owner.hasKey = false
	}
}

// ReleaseDuplicateKeys ends owner's claims on the values by which duplicates of its lead are
// recognized.
func (s *State) ReleaseDuplicateKeys(owner *Reservation) {
	if len(owner.duplicates) > 0 {
		s.endDuplicateKeyClaims(owner.duplicates)
		s.reservations.Add(-int64(len(owner.duplicates)))
		owner.duplicates = owner.duplicates[:0]
	}
}

// ReleaseAfterApply ends owner's reservations after its event was applied. applyTurn has ended
// the reserved turn already, at the moment at which it counted the turn. Two separate steps would
// count the turn twice in between, and a concurrent request would skip that buyer.
func (s *State) ReleaseAfterApply(owner *Reservation) {
	if owner.sale.turn.Set != 0 {
		owner.sale.turn = event.RotationTurn{}
		s.reservations.Add(-1)
	}
	s.ReleaseAll(owner)
}

// ReleaseAll ends all reservations and claims of owner, whose request gives up.
func (s *State) ReleaseAll(owner *Reservation) {
	s.ReleaseSaleReservation(owner)
	s.ReleaseDuplicateKeys(owner)
	s.ReleaseAuctionClaim(owner)
	s.ReleaseIdempotencyKey(owner)
}

// TransferDuplicateKeys moves h's claims on duplicate values to the reservation to, which must
// have no such claims.
func (h *Reservation) TransferDuplicateKeys(to *Reservation) {
	to.duplicates = append(to.duplicates[:0], h.duplicates...)
	h.duplicates = h.duplicates[:0]
}

// ReservationCount returns the number of reservations and claims of all requests in flight. It is
// zero when the exchange is idle.
func (s *State) ReservationCount() int64 { return s.reservations.Load() }
