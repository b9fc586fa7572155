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
	dups  []market.DupKey
	sale  saleHold
}

// saleHold is what a sale to one buyer has reserved.
type saleHold struct {
	charges  []event.Charge
	buyer    market.Ref
	price    market.Money // reserved of the buyer's money; none where the buyer is not limited
	campaign market.Ref
	turn     event.Turn
}

// TakeCaps reserves room for one lead at price in each of caps, in their order,
// which is campaign, buyer, pair. It takes all or none; what it took is appended
// to charges, for the event. RoomBlocked comes with the channel to wait on.
func (s *State) TakeCaps(h *Hold, limits []*market.Cap, price market.Money, now int64) (Room, <-chan struct{}) {
	mark := len(h.sale.charges)
	for _, limit := range limits {
		amount := limit.Amount(price)
		room, window, wait := s.caps.cell(limit.Ref).reserve(limit, amount, now)
		if room == RoomTaken {
			h.sale.charges = append(h.sale.charges, event.Charge{Cap: limit.Ref, Window: window, Amount: amount})
			s.reservations.Add(1)
			continue
		}
		s.releaseCharges(h, mark)
		return room, wait
	}
	return RoomTaken, nil
}

// Charges are the caps that h holds, as the event names them.
func (h *Hold) Charges() []event.Charge { return h.sale.charges }

func (s *State) releaseCharges(h *Hold, from int) {
	for _, charge := range h.sale.charges[from:] {
		s.caps.cell(charge.Cap).release(charge.Window, charge.Amount)
		s.reservations.Add(-1)
	}
	h.sale.charges = h.sale.charges[:from]
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

// ReleaseSale ends what h holds for a sale and keeps the rest.
func (s *State) ReleaseSale(h *Hold) {
	s.releaseCharges(h, 0)
	if h.sale.price != 0 {
		s.accounts.release(h.sale.buyer, h.sale.price)
		s.reservations.Add(-1)
	}
	if h.sale.turn.Set != 0 {
		s.turns.release(h.sale.campaign, h.sale.turn)
		s.reservations.Add(-1)
	}
	h.sale = saleHold{charges: h.sale.charges}
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

// Release ends all that h holds.
func (s *State) Release(h *Hold) {
	s.ReleaseSale(h)
	s.ReleaseDups(h)
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
