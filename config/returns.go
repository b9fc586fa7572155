package config

import "pingpost/engine/market"

// Returns is how a buyer may give a lead back.
type Returns struct {
	Window           *Duration `json:"window"`
	Reasons          []string  `json:"reasons,omitempty"` // empty: any
	Approval         string    `json:"approval"`          // auto or manual
	CapBack          bool      `json:"cap_back"`          // the cap is given back as well
	ReversePayout    *bool     `json:"reverse_payout"`    // the supplier's payout is taken back
	MaxSharePerMonth *Share    `json:"max_share_per_month"`
}

const (
	maxReturns = 365 * day
	maxReason  = 64
)

func (r *Returns) fill() {
	usual := market.DefaultReturnRule()
	r.Window = r.Window.orElse(usual.Window)
	orElse(&r.Approval, "auto")
	r.ReversePayout = given(r.ReversePayout, usual.ReversePayout)
	r.MaxSharePerMonth = given(r.MaxSharePerMonth, Share(usual.MaxShare))
}

func (c *compiler) returns(at place, r *Returns) market.ReturnRule {
	c.spanIn(at.key("window"), r.Window, 0, maxReturns)
	c.oneOf(at.key("approval"), r.Approval, "auto", "manual")
	c.names(at.key("reasons"), r.Reasons, maxReason)
	rule := market.ReturnRule{
		Window: r.Window.span(), Manual: r.Approval == "manual", CapBack: r.CapBack,
		ReversePayout: *r.ReversePayout, MaxShare: market.Share(*r.MaxSharePerMonth),
	}
	if len(r.Reasons) > 0 {
		rule.Reasons = setOf[string](r.Reasons)
	}
	return rule
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
