package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// RequestReservations holds everything that one request has reserved: an idempotency key, an
// auction, duplicate values, caps, funds and a turn. It belongs to the request until the request
// hands it to the committer with its event. From then on only the committer ends it. The zero value
// is empty.
type RequestReservations struct {
	key        [16]byte
	hasKey     bool
	auction    [16]byte // name of the claimed auction
	hasAuction bool
	duplicates []market.DuplicateKey
	sale       saleReservation
}

// saleReservation holds the resources that a request has reserved for a sale to one buyer: capacity
// of caps, the buyer's money and a turn in the campaign's rotation.
type saleReservation struct {
	charges  []event.CapCharge // that the event will make
	held     []event.CapCharge // the reserved part of each charge, in the same order
	buyer    market.PermanentNumber
	price    market.Money // reserved of the buyer's money; zero: the buyer's money is unlimited
	campaign market.PermanentNumber
	turn     event.RotationTurn
}

// ReserveAllCaps reserves capacity for one lead at price in all caps of limits, or in no cap. limits
// are in the order campaign, buyer, pair. refusedSaleCharges lists the charges of the lead's previous,
// refused sale. The same event gives them back, so in the same window their capacity counts as free.
//
// Contended comes with a channel that closes at the next change of the cap that lacks capacity.
func (s *State) ReserveAllCaps(owner *RequestReservations, limits []*market.Cap, price market.Money, refusedSaleCharges []event.CapCharge, nowUnixNanos int64) (reserved ReserveResult, capChanged <-chan struct{}) {
	for _, limit := range limits {
		amount := limit.AmountUsedBySale(price)
		result, held, wait := s.caps.mustFindCounter(limit.Ref).reserveCapacity(limit, amount, findChargeOfCap(refusedSaleCharges, limit.Ref), nowUnixNanos)
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

// findChargeOfCap returns the element of charges for the cap capRef, or a zero charge.
func findChargeOfCap(charges []event.CapCharge, capRef market.PermanentNumber) event.CapCharge {
	for _, charge := range charges {
		if charge.Cap == capRef {
			return charge
		}
	}
	return event.CapCharge{}
}

// CapChargesForEvent returns the charges that the sale's event must record for the reserved caps.
func (h *RequestReservations) CapChargesForEvent() []event.CapCharge { return h.sale.charges }

// releaseCapReservations ends all cap reservations of owner.
func (s *State) releaseCapReservations(owner *RequestReservations) {
	for _, held := range owner.sale.held {
		s.caps.mustFindCounter(held.Cap).releaseCapacity(held.Window, held.Amount)
		s.reservations.Add(-1)
	}
	owner.sale.charges, owner.sale.held = owner.sale.charges[:0], owner.sale.held[:0]
}

// ReserveFunds reserves price of the buyer's money. A buyer with unlimited money (not Funded)
// needs no reservation. Contended comes with a channel that closes at the account's next change.
func (s *State) ReserveFunds(owner *RequestReservations, buyer *market.Buyer, price market.Money) (reserved ReserveResult, accountChanged <-chan struct{}) {
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

// ReserveRotationTurn reserves the next turn of a round-robin or weighted campaign for one of its
// eligible buyers. buyersAndWeightsHash is a hash of these buyers and their weights; weights lists the
// weights in a fixed order. The result's Member is the chosen buyer's index in weights.
func (s *State) ReserveRotationTurn(owner *RequestReservations, campaign market.PermanentNumber, buyersAndWeightsHash uint64, weights []int32) event.RotationTurn {
	owner.sale.campaign = campaign
	owner.sale.turn = s.rotations.reserveTurn(campaign, buyersAndWeightsHash, weights)
	s.reservations.Add(1)
	return owner.sale.turn
}

// PeekRotationTurn returns which buyer would get the campaign's next turn, and reserves no turn.
// buyersAndWeightsHash is a hash of the eligible buyers and their weights. indexInWeights is
// the buyer's index in weights.
func (s *State) PeekRotationTurn(campaign market.PermanentNumber, buyersAndWeightsHash uint64, weights []int32) (indexInWeights uint32) {
	return s.rotations.peekTurn(campaign, buyersAndWeightsHash, weights)
}

// ReleaseCapsFundsAndTurn ends the caps, funds and turn that owner has reserved. Claims on the
// idempotency key, the auction and duplicate values stay, so that the request can try another
// buyer.
func (s *State) ReleaseCapsFundsAndTurn(owner *RequestReservations) {
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

// ReleaseIdempotencyKeyClaim ends owner's claim on its idempotency key, if owner has one.
func (s *State) ReleaseIdempotencyKeyClaim(owner *RequestReservations) {
	if owner.hasKey {
		s.idempotency[shardIndex(&owner.key)].endClaim(owner.key)
		s.reservations.Add(-1)
		owner.hasKey = false
	}
}

// ReleaseDuplicateKeyClaims ends owner's claims on the values by which duplicates of its lead are
// recognized.
func (s *State) ReleaseDuplicateKeyClaims(owner *RequestReservations) {
	if len(owner.duplicates) > 0 {
		s.endDuplicateKeyClaims(owner.duplicates)
		s.reservations.Add(-int64(len(owner.duplicates)))
		owner.duplicates = owner.duplicates[:0]
	}
}

// ReleaseAllAfterApply ends the reservations and claims that owner still holds after its event was
// applied. The reserved turn is not one of them: countTurnAndEndReservation ended it in the same step
// in which it counted the turn. Between two separate steps the turn would count twice, and a
// concurrent request would skip that buyer.
func (s *State) ReleaseAllAfterApply(owner *RequestReservations) {
	if owner.sale.turn.Set != 0 {
		owner.sale.turn = event.RotationTurn{}
		s.reservations.Add(-1)
	}
	s.ReleaseAll(owner)
}

// ReleaseAll ends all reservations and claims of owner, whose request gives up.
func (s *State) ReleaseAll(owner *RequestReservations) {
	s.ReleaseCapsFundsAndTurn(owner)
	s.ReleaseDuplicateKeyClaims(owner)
	s.ReleaseAuctionClaim(owner)
	s.ReleaseIdempotencyKeyClaim(owner)
}

// TransferDuplicateKeyClaims moves h's claims on duplicate values to the reservation to, which must
// have no such claims.
func (h *RequestReservations) TransferDuplicateKeyClaims(to *RequestReservations) {
	to.duplicates = append(to.duplicates[:0], h.duplicates...)
	h.duplicates = h.duplicates[:0]
}

// ReservationCount returns the number of reservations and claims of all requests in flight. It is
// zero when the exchange is idle.
func (s *State) ReservationCount() int64 { return s.reservations.Load() }
