package main

import (
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// timeFor returns the time of a decision. An owner has entered a window if a holder with a faster clock has.
func (p *partition) timeFor(r *resource) int64 {
	if r.owner == p.id {
		return max(p.clock(), p.escrows[r.index].window)
	}
	return p.clock()
}

// windowOf returns the window that a decision at this time charges.
func (p *partition) windowOf(r *resource) int64 {
	if r.limit == nil {
		return 0
	}
	return p.state.CapUsage(r.limit, p.timeFor(r)).From
}

// limitOf returns the cap with the limit that holds in this partition: for a holder, its grants of the
// current window.
func (p *partition) limitOf(r *resource) *market.Cap {
	limit := *r.limit
	if r.owner == p.id {
		limit.Limit = p.sim.policy.ownLimit(&limit, &p.escrows[r.index])
		return &limit
	}
	h := &p.holdings[r.index]
	if limit.Limit = 0; h.durableWindow == p.windowOf(r) {
		limit.Limit = h.durable.held()
	}
	return &limit
}

// free returns the amount that neither events nor reservations use.
func (p *partition) free(r *resource) int64 {
	if r.limit == nil {
		balance, held := p.state.BuyerBalance(r.buyer.Ref)
		return int64(balance - held + p.creditOf(r) - p.fundsReserved[r.buyer.Ref])
	}
	limit := p.limitOf(r)
	usage := p.state.CapUsage(limit, p.timeFor(r))
	return limit.Limit - usage.Used - usage.Reserved
}

// creditOf returns the buyer's credit, which only the owner of its funds may use.
func (p *partition) creditOf(r *resource) market.Money {
	if r.owner != p.id {
		return 0
	}
	return r.buyer.Credit
}

// reserveAmount reserves an amount of a resource under the limit, for a grant or a give-back. The engine's rule of
// reservations takes the amount of a sale, so a cap of leads counts as one of money here.
func (p *partition) reserveAmount(owner *state.RequestReservations, r *resource, limit *market.Cap, amount, now int64) {
	var result state.ReserveResult
	if r.limit == nil {
		account := market.Buyer{Ref: r.buyer.Ref, Funded: true, Credit: p.creditOf(r)}
		result, _ = p.state.ReserveFunds(owner, &account, market.Money(amount))
		p.fundsReserved[r.buyer.Ref] += market.Money(amount)
	} else {
		whole := *limit
		whole.Unit = market.UnitMoney
		result, _ = p.state.ReserveAllCaps(owner, []*market.Cap{&whole}, market.Money(amount), nil, now)
	}
	if result != state.Reserved {
		panic("BUG: a free amount cannot be reserved")
	}
}

// releaseAmount ends a reservation of reserveAmount.
func (p *partition) releaseAmount(owner *state.RequestReservations, r *resource, amount int64) {
	p.state.ReleaseAll(owner)
	if r.limit == nil {
		p.fundsReserved[r.buyer.Ref] -= market.Money(amount)
	}
}
