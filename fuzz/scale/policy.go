package main

import (
	"fmt"

	"pingpost/engine/market"
)

// policy decides how much an owner grants.
type policy struct {
	name    string
	recalls bool // unused grants are recalled before a refusal
	early   bool // a holder asks before it has used up its grant
	size    func(account *holderAccount, r *resource, w want, free int64) int64
}

// policies are compared in this order. The first has no exchange of grants during a window; the second asks for
// each lead, like a central service of caps.
var policies = []policy{
	{name: "static", size: staticShare},
	{name: "single", recalls: true, size: func(*holderAccount, *resource, want, int64) int64 { return 0 }},
	{name: "fixed", recalls: true, size: fixedSlice},
	{name: "halving", recalls: true, size: func(_ *holderAccount, _ *resource, _ want, free int64) int64 { return free / 2 }},
	{name: "demand", recalls: true, size: demandShare},
	{name: "demand-early", recalls: true, early: true, size: demandShare},
}

func findPolicy(name string) (*policy, error) {
	for i := range policies {
		if policies[i].name == name {
			return &policies[i], nil
		}
	}
	return nil, fmt.Errorf("unknown policy %q", name)
}

// amount returns the size of a grant: at least the need of the leads that wait, at most the free amount.
func (p *policy) amount(account *holderAccount, r *resource, w want, free int64) int64 {
	size := p.size(account, r, w, free)
	if !p.recalls {
		return min(size, free)
	}
	return min(max(size, w.need, 1), free)
}

// partitionsOfStaticShare is the number of equal parts of the policy "static".
const partitionsOfStaticShare = 8

// staticShare grants an equal part of a cap once in a window, and of a top-up when the last one is used up.
func staticShare(account *holderAccount, r *resource, _ want, free int64) int64 {
	switch {
	case r.limit == nil:
		return min(free, int64(r.buyer.topUp)/partitionsOfStaticShare)
	case account.appended.granted > 0:
		return 0
	}
	return r.limit.Limit / partitionsOfStaticShare
}

// fixedSlice grants a 64th of the cap; of funds, of which there is no limit, a 64th of the top-up.
func fixedSlice(_ *holderAccount, r *resource, _ want, _ int64) int64 {
	if r.limit == nil {
		return int64(r.buyer.topUp) / 64
	}
	return r.limit.Limit / 64
}

// demandShare grants the holder's expected use of the next half minute, and at most half of the free amount.
func demandShare(_ *holderAccount, _ *resource, w want, free int64) int64 {
	return min(w.soon, free/2)
}

// ownLimit returns the limit for the owner's own leads. With static parts, the parts of the others are not
// free, even before they are granted.
func (p *policy) ownLimit(limit *market.Cap, e *escrow) int64 {
	if p.recalls {
		return limit.Limit
	}
	granted := int64(0)
	for i := range e.holders {
		granted += e.holders[i].durable.held()
	}
	return limit.Limit/partitionsOfStaticShare + granted
}
