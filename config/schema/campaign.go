package schema

import (
	"time"

	"pingpost/engine/market"
)

// Campaign is one line of business with its fields, buyers and terms.
type Campaign struct {
	ID             string        `json:"id"`
	Name           string        `json:"name"`
	Paused         bool          `json:"paused"` // initial value only
	Vertical       string        `json:"vertical,omitempty"`
	SubVertical    string        `json:"sub_vertical,omitempty"`
	Suppliers      []string      `json:"suppliers,omitempty"` // empty: all
	Method         string        `json:"method"`
	Currency       string        `json:"currency"`
	TimeZone       string        `json:"time_zone"`
	Floor          market.Money  `json:"floor"`
	BidTimeout     *Duration     `json:"bid_timeout"`
	PostReserve    *Duration     `json:"post_reserve"`
	PingReserve    *Duration     `json:"ping_reserve"`
	Payout         Payout        `json:"payout"`
	Terms          []Terms       `json:"terms,omitempty"` // the first entry that fits a lead applies
	ConsentSources []string      `json:"consent_required_sources,omitempty"`
	ConsentHosts   []string      `json:"consent_hosts,omitempty"` // of certificates; empty: any
	Suppression    []string      `json:"suppression,omitempty"`
	Duplicates     DuplicateRule `json:"duplicates"`
	Returns        ReturnRule    `json:"returns"`
	Unknown        string        `json:"unknown"`
	Fields         []Field       `json:"fields,omitempty"`
	Filters        []Filter      `json:"filters,omitempty"`
	Schedule       *OpeningHours `json:"schedule,omitempty"`
	Caps           []Cap         `json:"caps,omitempty"`
	Buyers         []FilterSet   `json:"buyers,omitempty"`
}

const (
	defaultBidTimeout  = 2 * time.Second
	defaultPostReserve = time.Second
	defaultPingReserve = 500 * time.Millisecond
)

func (c *Campaign) fillDefaults() {
	setDefault(&c.Name, c.ID)
	setDefault(&c.Currency, "USD")
	setDefault(&c.TimeZone, "UTC")
	c.BidTimeout = c.BidTimeout.orDefault(defaultBidTimeout)
	c.PostReserve = c.PostReserve.orDefault(defaultPostReserve)
	c.PingReserve = c.PingReserve.orDefault(defaultPingReserve)
	c.Payout.fillDefaults()
	for i := range c.Terms {
		if payout := c.Terms[i].Payout; payout != nil {
			payout.fillDefaults()
		}
	}
	c.Duplicates.fillDefaults()
	c.Returns.fillDefaults()
	setDefault(&c.Unknown, "drop")
	for i := range c.Buyers {
		c.Buyers[i].fillDefaultPriorityAndWeight(i)
	}
}

// Cap limits the sales in a period, by number of leads or by money.
type Cap struct {
	Per      string        `json:"per"`
	Count    *int          `json:"count,omitempty"`
	Money    *market.Money `json:"money,omitempty"`
	TimeZone string        `json:"time_zone,omitempty"` // default: that of the campaign or buyer
}

// DuplicateRule defines when two leads of a campaign count as the same person.
type DuplicateRule struct {
	Fields []string  `json:"fields"` // phone, email
	Match  string    `json:"match"`  // any or all of them
	Window *Duration `json:"window"` // 0: no rule
	// campaign; buyer: only leads that this buyer already has; group: of all campaigns of the group;
	// exchange: of all campaigns with this scope
	Scope string `json:"scope"`
	Group string `json:"group,omitempty"` // of scope group
}

const (
	defaultDuplicates = 30 * Day
)

func (d *DuplicateRule) fillDefaults() {
	if len(d.Fields) == 0 {
		d.Fields = []string{"phone", "email"}
	}
	setDefault(&d.Match, "any")
	d.Window = d.Window.orDefault(defaultDuplicates)
	setDefault(&d.Scope, "campaign")
}

// Terms replace the floor and the payout of a campaign, and add caps, for the leads of some suppliers and
// sources.
type Terms struct {
	ID        string        `json:"id"`
	Suppliers []string      `json:"suppliers,omitempty"` // empty: all
	Sources   []string      `json:"sources,omitempty"`   // values of the field source; empty: all
	Floor     *market.Money `json:"floor,omitempty"`     // nil: the campaign's
	Payout    *Payout       `json:"payout,omitempty"`    // nil: the campaign's
	Caps      []Cap         `json:"caps,omitempty"`
}

// MinimumPrice returns the lowest price that may buy at this floor and payout.
func MinimumPrice(floor market.Money, payout *Payout) market.Money {
	if payout.Fixed != nil {
		return max(floor, *payout.Fixed)
	}
	return floor
}

// FloorAndPayoutOf returns the floor and the payout for the leads of an entry of the campaign's terms.
func (c *Campaign) FloorAndPayoutOf(terms *Terms) (floor market.Money, payout *Payout) {
	floor, payout = c.Floor, &c.Payout
	if terms.Floor != nil {
		floor = *terms.Floor
	}
	if terms.Payout != nil {
		payout = terms.Payout
	}
	return floor, payout
}

// Payout is the supplier's pay for a sold lead: a share of the price, or a fixed amount.
type Payout struct {
	Share *Share        `json:"share,omitempty"`
	Fixed *market.Money `json:"fixed,omitempty"`
}

func (p *Payout) fillDefaults() {
	if p.Share == nil && p.Fixed == nil {
		p.Share = orPointerTo(p.Share, Share(market.WholeShare))
	}
}

// ReturnRule configures the return of leads by a buyer.
type ReturnRule struct {
	Window           *Duration `json:"window"`
	Reasons          []string  `json:"reasons,omitempty"` // empty: any
	Approval         string    `json:"approval"`          // auto or manual
	CapBack          bool      `json:"cap_back"`          // a return also releases the cap
	ReversePayout    *bool     `json:"reverse_payout"`    // a return also reverses the supplier's payout
	MaxSharePerMonth *Share    `json:"max_share_per_month"`
}

func (r *ReturnRule) fillDefaults() {
	usual := market.DefaultReturnRule()
	r.Window = r.Window.orDefault(usual.Window)
	setDefault(&r.Approval, "auto")
	r.ReversePayout = orPointerTo(r.ReversePayout, usual.ReversePayout)
	r.MaxSharePerMonth = orPointerTo(r.MaxSharePerMonth, Share(usual.MaxShare))
}

// OpeningHours lists the opening hours of a campaign, a buyer or a filter set, in lines such as
// Mon-Fri 08:00-18:00, and the days on which it is closed.
type OpeningHours struct {
	TimeZone string   `json:"time_zone,omitempty"` // default: that of the campaign or buyer
	Open     []string `json:"open,omitempty"`
	ClosedOn []string `json:"closed_on,omitempty"` // dates, such as 2026-12-25, or 12-25 for every year
}
