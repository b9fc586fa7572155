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

// plan is a catalog with the values that are computed from it. It is immutable except for the
// cached availability, which changes with events and hours. A request uses one plan from its
// beginning to its end.
type plan struct {
	catalog       *market.Catalog
	campaigns     map[market.CampaignID]*liveCampaign
	tables        map[market.Ref]*fingerprint.Table // of suppression lists, by the list's number
	businessLines map[businessLine][]*liveCampaign  // ping_post campaigns, by line of business, then id
	webhooks      map[market.Ref]*market.Endpoint   // by supplier
}

// businessLine is the line of business that a ping names.
type businessLine struct{ vertical, subVertical string }

// liveCampaign is a campaign of the current catalog, compiled for requests.
type liveCampaign struct {
	auction.Bidders
	availability atomic.Pointer[selection.Availability]

	reachable bitset.Set // of a ping_post campaign: the filter sets whose buyer has a ping endpoint

	excluded     bitset.Set // of a test campaign: the filter sets without a test endpoint
	testCampaign func() *liveCampaign
}

func newPlan(catalog *market.Catalog, tables map[market.Ref]*fingerprint.Table, limiters auction.PingLimiters, now int64) *plan {
	p := &plan{
		catalog: catalog, tables: tables,
		campaigns:     make(map[market.CampaignID]*liveCampaign, len(catalog.Campaigns)),
		businessLines: make(map[businessLine][]*liveCampaign),
		webhooks:      make(map[market.Ref]*market.Endpoint),
	}
	for _, supplier := range catalog.Suppliers {
		if supplier.Webhooks != nil {
			p.webhooks[supplier.Ref] = supplier.Webhooks
		}
	}
	for _, id := range slices.Sorted(maps.Keys(catalog.Campaigns)) {
		o := &liveCampaign{Bidders: auction.Bidders{FilterSets: selection.CompileFilterSets(catalog.Campaigns[id])}}
		o.initTestCampaign()
		p.campaigns[id] = o
		if o.Campaign.Method != market.PingPost {
			continue
		}
		o.prepareAuctions(func(buyer *market.Buyer) *auction.PingLimiter { return limiters.ForBuyer(buyer, now) })
		of := businessLine{o.Campaign.Vertical, o.Campaign.SubVertical}
		p.businessLines[of] = append(p.businessLines[of], o)
	}
	return p
}

// prepareAuctions sets the ping limiters and the reachable filter sets.
func (o *liveCampaign) prepareAuctions(limiterOf func(*market.Buyer) *auction.PingLimiter) {
	o.reachable = bitset.New(o.Len())
	for i := range o.Campaign.FilterSets {
		buyer := o.Campaign.FilterSets[i].Buyer
		o.Limiters = append(o.Limiters, limiterOf(buyer))
		if buyer.Ping != nil {
			o.reachable.Add(i)
		}
	}
}

// campaign returns the live campaign with an id, or its test campaign. It returns nil if the
// catalog does not have it.
func (p *plan) campaign(id market.CampaignID, test bool) *liveCampaign {
	return p.campaigns[id].forLead(test)
}

// findAuctionCampaign returns the campaign for a supplier's ping with this line of business,
// or nil. It skips paused campaigns. If a configuration has several, which it should not, it
// returns the first by id.
func (e *Engine) findAuctionCampaign(p *plan, supplier market.SupplierID, vertical, subVertical []byte, test bool) *liveCampaign {
	for _, o := range p.businessLines[businessLine{string(vertical), string(subVertical)}] {
		if paused, _ := e.state.PauseStatus(event.ObjectCampaign, o.Campaign.Ref); !paused && o.Campaign.AcceptsSupplier(supplier) {
			return o.forLead(test)
		}
	}
	return nil
}

// Catalog returns the current catalog, or nil before the first one.
func (e *Engine) Catalog() *market.Catalog {
	if p := e.plan.Load(); p != nil {
		return p.catalog
	}
	return nil
}
