package config

import "pingpost/engine/market"

// Returns is how a buyer may give a lead back. The catalog has no place for it;
// it is read from the document.
type Returns struct {
	Window           *Duration `json:"window"`
	Reasons          []string  `json:"reasons,omitempty"` // empty: any
	Approval         string    `json:"approval"`          // auto or manual
	CapBack          bool      `json:"cap_back"`          // the cap is given back as well
	ReversePayout    *bool     `json:"reverse_payout"`    // the supplier's payout is taken back
	MaxSharePerMonth *Share    `json:"max_share_per_month"`
}

const (
	defaultReturns = 14 * day
	maxReturns     = 365 * day
	maxReason      = 64
)

func (r *Returns) fill() {
	r.Window = r.Window.orElse(defaultReturns)
	orElse(&r.Approval, "auto")
	r.ReversePayout = given(r.ReversePayout, true)
	r.MaxSharePerMonth = given(r.MaxSharePerMonth, Share(market.WholeShare))
}

func (c *compiler) returns(at place, r *Returns) {
	c.spanIn(at.key("window"), r.Window, 0, maxReturns)
	c.oneOf(at.key("approval"), r.Approval, "auto", "manual")
	c.names(at.key("reasons"), r.Reasons, maxReason)
}

// names judges a list of texts: none empty, none twice.
func (c *compiler) names(at place, list []string, most int) {
	seen := make(map[string]place, len(list))
	for i, name := range list {
		if name == "" {
			c.fail(at.at(i), "is empty; fill it in or remove it")
			continue
		}
		c.label(at.at(i), name, most)
		c.once(at.at(i), seen, name)
	}
}
