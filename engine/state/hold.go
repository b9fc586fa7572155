package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Hold is all that one request has reserved. It belongs to the request until
// it is handed to the committer with the event it was taken for; from then on
// only the committer ends it. The zero Hold holds nothing.
type Hold struct {
	key   [16]byte
	keyed bool
	name  [16]byte // of an auction
	named bool
	dups  []market.DupKey
	sale  saleHold
}

// saleHold is what a sale to one buyer has reserved.
type saleHold struct {
	charges  []event.Charge // what the fact will charge
	held     []event.Charge // what of it is reserved, one for one
	buyer    market.Ref
	price    market.Money // reserved of the buyer's money; none where the buyer is not limited
	campaign market.Ref
	turn     event.Turn
}

// TakeCaps reserves room for one lead at price in each of caps, in their order,
// which is campaign, buyer, pair. It takes all or none. What the lead's own open
// intent holds (back, which the same fact gives back) counts as free for it.
// RoomBlocked comes with the channel to wait on.
func (s *State) TakeCaps(h *Hold, limits []*market.Cap, price market.Money, back []event.Charge, now int64) (Room, <-chan struct{}) {
	for _, limit := range limits {
		amount := limit.Amount(price)
		room, held, wait := s.caps.cell(limit.Ref).reserve(limit, amount, creditOf(back, limit.Ref), now)
		if room != RoomTaken {
			s.releaseCharges(h)
			return room, wait
		}
		h.sale.charges = append(h.sale.charges, event.Charge{Cap: limit.Ref, Window: held.Window, Amount: amount})
		h.sale.held = append(h.sale.held, held)
		s.reservations.Add(1)
	}
	return RoomTaken, nil
}

func creditOf(back []event.Charge, ref market.Ref) event.Charge {
	for _, charge := range back {
		if charge.Cap == ref {
			return charge
		}
	}
	return event.Charge{}
}

// Charges are the caps that h holds, as the event names them.
func (h *Hold) Charges() []event.Charge { return h.sale.charges }

func (s *State) releaseCharges(h *Hold) {
	for _, held := range h.sale.held {
		s.caps.cell(held.Cap).release(held.Window, held.Amount)
		s.reservations.Add(-1)
	}
	h.sale.charges, h.sale.held = h.sale.charges[:0], h.sale.held[:0]
}

// TakeFunds reserves price of the buyer's money.
func (s *State) TakeFunds(h *Hold, buyer *market.Buyer, price market.Money) (Room, <-chan struct{}) {
	if !buyer.Funded || price == 0 {
		return RoomTaken, nil
	}
	room, wait := s.accounts.reserve(buyer.Ref, price, buyer.Credit)
	if room == RoomTaken {
		h.sale.buyer, h.sale.price = buyer.Ref, price
		s.reservations.Add(1)
	}
	return room, wait
}

// TakeTurn reserves the next turn among the members of a set.
func (s *State) TakeTurn(h *Hold, campaign market.Ref, set uint64, weights []int32) event.Turn {
	h.sale.campaign = campaign
	h.sale.turn = s.turns.reserve(campaign, set, weights)
	s.reservations.Add(1)
	return h.sale.turn
}

// NextTurn is whose turn it is among the members of a set, if one were taken now.
func (s *State) NextTurn(campaign market.Ref, set uint64, weights []int32) (member uint32) {
	return s.turns.next(campaign, set, weights)
}

// ReleaseSale ends what h holds for a sale and keeps the rest.
func (s *State) ReleaseSale(h *Hold) {
	s.releaseCharges(h)
	if h.sale.price != 0 {
		s.accounts.release(h.sale.buyer, h.sale.price)
		s.reservations.Add(-1)
	}
	if h.sale.turn.Set != 0 {
		s.turns.release(h.sale.campaign, h.sale.turn)
		s.reservations.Add(-1)
	}
	h.sale = saleHold{charges: h.sale.charges, held: h.sale.held}
}

// ReleaseKey ends the claim on the idempotency key.
func (s *State) ReleaseKey(h *Hold) {
	if h.keyed {
		s.dropKey(h.key)
		s.reservations.Add(-1)
		h.keyed = false
	}
}

// ReleaseDups ends the claims on a lead's values.
func (s *State) ReleaseDups(h *Hold) {
	if len(h.dups) > 0 {
		s.dropDups(h.dups)
		s.reservations.Add(-int64(len(h.dups)))
		h.dups = h.dups[:0]
	}
}

// Settled ends all that h holds, when the fact it was taken for has been
// applied. That has ended the turn already: between the two it would count
// twice, and whoever picks in between would pass its taker over.
func (s *State) Settled(h *Hold) {
	if h.sale.turn.Set != 0 {
		h.sale.turn = event.Turn{}
		s.reservations.Add(-1)
	}
	s.Release(h)
}

// Release ends all that h holds.
func (s *State) Release(h *Hold) {
	s.ReleaseSale(h)
	s.ReleaseDups(h)
	s.ReleaseName(h)
	s.ReleaseKey(h)
}

// MoveDups hands h's claims on a lead's values to another hold, which must have
// none.
func (h *Hold) MoveDups(to *Hold) {
	to.dups = append(to.dups[:0], h.dups...)
	h.dups = h.dups[:0]
}

// Reservations is how many reservations are out: zero when idle.
func (s *State) Reservations() int64 { return s.reservations.Load() }
