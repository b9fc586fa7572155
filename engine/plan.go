package engine

import (
	"maps"
	"slices"
	"sync/atomic"

	"pingpost/engine/auction"
	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/fingerprint"
	"pingpost/engine/selection"
)

// plan is a catalog with all that is computed from it. Immutable but for the
// doors, which are replaced as facts and hours change; a request uses one plan
// from beginning to end.
type plan struct {
	catalog   *market.Catalog
	campaigns map[market.CampaignID]*open
	tables    map[market.Ref]*fingerprint.Table // of suppression lists, by the list's number
	lines     map[line][]*open                  // ping_post campaigns, by line of business, then id
	webhooks  map[market.Ref]*market.Endpoint   // by supplier
}

// line is a line of business, as pings name it.
type line struct{ vertical, subVertical string }

// open is a campaign ready for leads.
type open struct {
	auction.Bidders
	doors atomic.Pointer[selection.Availability]

	reachable bitset.Set // of a ping_post campaign: the filter sets whose buyer has a ping endpoint

	barred    bitset.Set // of one: the seats that no test lead comes to
	rehearsal func() *open
}

func newPlan(catalog *market.Catalog, tables map[market.Ref]*fingerprint.Table, limiters auction.PingLimiters, now int64) *plan {
	p := &plan{
		catalog: catalog, tables: tables,
		campaigns: make(map[market.CampaignID]*open, len(catalog.Campaigns)),
		lines:     make(map[line][]*open),
		webhooks:  make(map[market.Ref]*market.Endpoint),
	}
	for _, supplier := range catalog.Suppliers {
		if supplier.Webhooks != nil {
			p.webhooks[supplier.Ref] = supplier.Webhooks
		}
	}
	for _, id := range slices.Sorted(maps.Keys(catalog.Campaigns)) {
		o := &open{Bidders: auction.Bidders{FilterSets: selection.Compile(catalog.Campaigns[id])}}
		o.rehearses()
		p.campaigns[id] = o
		if o.Campaign.Method != market.PingPost {
			continue
		}
		o.prepare(func(buyer *market.Buyer) *auction.PingLimiter { return limiters.ForBuyer(buyer, now) })
		of := line{o.Campaign.Vertical, o.Campaign.SubVertical}
		p.lines[of] = append(p.lines[of], o)
	}
	return p
}

func (o *open) prepare(limiterOf func(*market.Buyer) *auction.PingLimiter) {
	o.reachable = bitset.New(o.Len())
	for i := range o.Campaign.FilterSets {
		buyer := o.Campaign.FilterSets[i].Buyer
		o.Limiters = append(o.Limiters, limiterOf(buyer))
		if buyer.Ping != nil {
			o.reachable.Add(i)
		}
	}
}

// campaign is the one with an id, as a lead finds it, or a test lead does; nil:
// there is none.
func (p *plan) campaign(id market.CampaignID, test bool) *open { return p.campaigns[id].as(test) }

// auctioning is the campaign that a supplier's ping of this line of business
// goes to, or nil. Paused ones do not count; of several that a configuration
// should not have, it is the first by id.
func (e *Engine) auctioning(p *plan, supplier market.SupplierID, vertical, subVertical []byte, test bool) *open {
	for _, o := range p.lines[line{string(vertical), string(subVertical)}] {
		if paused, _ := e.state.Paused(event.NameCampaign, o.Campaign.Ref); !paused && o.Campaign.AcceptsSupplier(supplier) {
			return o.as(test)
		}
	}
	return nil
}

// Catalog is the configuration in force, or nil.
func (e *Engine) Catalog() *market.Catalog {
	if p := e.plan.Load(); p != nil {
		return p.catalog
	}
	return nil
}
