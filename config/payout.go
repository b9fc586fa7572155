package config

import "pingpost/engine/market"

// Payout is what the supplier is paid: a share of the price, or a fixed amount.
type Payout struct {
	Share *Share        `json:"share,omitempty"`
	Fixed *market.Money `json:"fixed,omitempty"`
}

func (p *Payout) fill() {
	if p.Share == nil && p.Fixed == nil {
		p.Share = given(p.Share, Share(market.WholeShare))
	}
}

func (c *compiler) payout(at place, p *Payout) market.Payout {
	switch {
	case p.Share != nil && p.Fixed != nil:
		c.fail(at, "is a share or fixed, not both; keep one")
	case p.Fixed != nil:
		return market.Payout{Fixed: *p.Fixed, IsFixed: true}
	}
	return market.Payout{Share: market.Share(*p.Share)}
}
