package config

import (
	"time"

	"pingpost/engine/market"
)

// Campaign is one line of business.
type Campaign struct {
	ID             string       `json:"id"`
	Name           string       `json:"name"`
	Paused         bool         `json:"paused"` // first value only
	Vertical       string       `json:"vertical,omitempty"`
	SubVertical    string       `json:"sub_vertical,omitempty"`
	Suppliers      []string     `json:"suppliers,omitempty"` // empty: all
	Method         string       `json:"method"`
	Currency       string       `json:"currency"`
	TimeZone       string       `json:"time_zone"`
	Floor          market.Money `json:"floor"`
	BidTimeout     *Duration    `json:"bid_timeout"`
	PostReserve    *Duration    `json:"post_reserve"`
	PingReserve    *Duration    `json:"ping_reserve"`
	Payout         Payout       `json:"payout"`
	ConsentSources []string     `json:"consent_required_sources,omitempty"`
	ConsentHosts   []string     `json:"consent_hosts,omitempty"` // of certificates; empty: any
	Suppression    []string     `json:"suppression,omitempty"`
	Duplicates     Duplicates   `json:"duplicates"`
	Returns        Returns      `json:"returns"`
	Unknown        string       `json:"unknown"`
	Fields         []Field      `json:"fields,omitempty"`
	Filters        []Filter     `json:"filters,omitempty"`
	Caps           []Cap        `json:"caps,omitempty"`
	Buyers         []Seat       `json:"buyers,omitempty"`
}

const (
	defaultBidTimeout  = 2 * time.Second
	leastBidTimeout    = 2 * time.Second
	mostBidTimeout     = 5 * time.Second
	defaultPostReserve = time.Second
	defaultPingReserve = 500 * time.Millisecond
)

func (c *Campaign) fill() {
	orElse(&c.Name, c.ID)
	orElse(&c.Currency, "USD")
	orElse(&c.TimeZone, "UTC")
	c.BidTimeout = c.BidTimeout.orElse(defaultBidTimeout)
	c.PostReserve = c.PostReserve.orElse(defaultPostReserve)
	c.PingReserve = c.PingReserve.orElse(defaultPingReserve)
	c.Payout.fill()
	c.Duplicates.fill()
	c.Returns.fill()
	orElse(&c.Unknown, "drop")
	for i := range c.Buyers {
		c.Buyers[i].fill(i)
	}
}

var methods = map[string]market.Method{
	"waterfall": market.Waterfall, "round_robin": market.RoundRobin,
	"weighted": market.Weighted, "ping_post": market.PingPost,
}

func (c *compiler) campaign(at place, form *Campaign) {
	id := market.CampaignID(form.ID)
	if c.id(at.key("id"), form.ID) {
		if _, twice := c.out.Catalog.Campaigns[id]; twice {
			c.fail(at.key("id"), "another campaign has this id; ids are unique")
		}
	}
	c.campaignTerms(at, form)
	currency, ok := market.ParseCurrency(form.Currency)
	if !ok {
		c.fail(at.key("currency"), "is not a currency; give three capital letters of ISO 4217, such as USD")
	}
	zone := c.zone(at.key("time_zone"), form.TimeZone)
	campaign := &market.Campaign{
		ID: id, Name: form.Name, Vertical: form.Vertical, SubVertical: form.SubVertical,
		Suppliers:   c.takes(at.key("suppliers"), form.Suppliers),
		Method:      methods[form.Method],
		Currency:    currency,
		Zone:        zone,
		Floor:       form.Floor,
		Payout:      c.payout(at.key("payout"), &form.Payout),
		BidTimeout:  form.BidTimeout.span(),
		PostReserve: form.PostReserve.span(),
		PingReserve: form.PingReserve.span(),
		Suppression: c.suppression(at.key("suppression"), form.Suppression),
		Duplicates:  c.duplicates(at.key("duplicates"), &form.Duplicates),
		Returns:     c.returns(at.key("returns"), &form.Returns),
		Mapping:     c.mapping(at, form),
		Caps:        c.caps(at.key("caps"), form.Caps, market.ScopeCampaign, zone),
	}
	if len(form.ConsentSources) > 0 {
		campaign.ConsentSources = setOf[string](form.ConsentSources)
	}
	campaign.ConsentHosts = c.consentHosts(at.key("consent_hosts"), form.ConsentHosts)
	campaign.Filters = c.filters(at.key("filters"), form.Filters, campaign.Mapping)
	campaign.FilterSets = c.lineup(at.key("buyers"), form, campaign)
	if form.Paused {
		c.out.Firsts.Paused.Campaigns = append(c.out.Firsts.Paused.Campaigns, id)
	}
	c.out.Catalog.Campaigns[id] = campaign
}

// campaignTerms judges what stands alone.
func (c *compiler) campaignTerms(at place, form *Campaign) {
	c.label(at.key("name"), form.Name, maxLabel)
	c.label(at.key("vertical"), form.Vertical, maxLabel)
	c.label(at.key("sub_vertical"), form.SubVertical, maxLabel)
	if c.oneOf(at.key("method"), form.Method, "waterfall", "round_robin", "weighted", "ping_post") &&
		form.Method == "ping_post" && form.Vertical == "" {
		c.fail(at.key("vertical"), "is missing; a ping_post campaign is found by its vertical, and pings carry it")
	}
	c.spanIn(at.key("bid_timeout"), form.BidTimeout, leastBidTimeout, mostBidTimeout)
	c.spanIn(at.key("post_reserve"), form.PostReserve, 100*time.Millisecond, 4*time.Second)
	c.spanIn(at.key("ping_reserve"), form.PingReserve, 100*time.Millisecond, 4*time.Second)
	c.warnShortBidding(at, form)
	c.warnNoFloor(at, form)
	c.sells(at, form)
	c.names(at.key("consent_required_sources"), form.ConsentSources, maxLabel)
	c.consentSources(at.key("consent_required_sources"), form.ConsentSources)
}

// takes is the set of suppliers that may send, nil for all.
func (c *compiler) takes(at place, names []string) map[market.SupplierID]struct{} {
	seen := make(map[string]place, len(names))
	for i, name := range names {
		if _, ok := c.out.Catalog.Suppliers[market.SupplierID(name)]; !ok {
			c.failQuoting(at.at(i), "there is no supplier "+quote(name)+"; add it under suppliers")
			continue
		}
		c.once(at.at(i), seen, name)
	}
	if len(names) == 0 {
		return nil
	}
	return setOf[market.SupplierID](names)
}

func setOf[T ~string](names []string) map[T]struct{} {
	set := make(map[T]struct{}, len(names))
	for _, name := range names {
		set[T(name)] = struct{}{}
	}
	return set
}
