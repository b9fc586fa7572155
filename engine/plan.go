package engine

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"pingpost/engine/auction"
	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/fingerprint"
	"pingpost/engine/selection"
	"pingpost/engine/state"
)

// compiledCatalog is a catalog with the values that are computed from it. It is immutable
// except for the cached availability, which changes with events and hours. A request uses
// one plan from its beginning to its end.
type compiledCatalog struct {
	catalog       *market.Catalog
	campaigns     map[market.CampaignID]*liveCampaign
	tables        map[market.Ref]*fingerprint.FingerprintTable // of suppression lists, by the list's number
	businessLines map[businessLine][]*liveCampaign             // ping_post campaigns, by line of business, then id
	webhooks      map[market.Ref]*market.Endpoint              // by supplier
}

// businessLine is the line of business that a ping names.
type businessLine struct{ vertical, subVertical string }

// liveCampaign is a campaign of the current catalog, compiled for requests.
type liveCampaign struct {
	auction.CampaignBidders
	availability atomic.Pointer[selection.UnavailableFilterSets]

	reachable bitset.Set // of a ping_post campaign: the filter sets whose buyer has a ping endpoint

	excluded     bitset.Set // of a test campaign: the filter sets without a test endpoint
	testCampaign func() *liveCampaign
}

func compileCatalog(catalog *market.Catalog, tables map[market.Ref]*fingerprint.FingerprintTable, limiters auction.PingLimiters, now int64) *compiledCatalog {
	p := &compiledCatalog{
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
		o := &liveCampaign{CampaignBidders: auction.CampaignBidders{CompiledFilterSets: selection.CompileFilterSets(catalog.Campaigns[id])}}
		o.initTestCampaign()
		p.campaigns[id] = o
		if o.Campaign.Method != market.PingPost {
			continue
		}
		o.compileForAuctions(func(buyer *market.Buyer) *auction.PingLimiter { return limiters.ForBuyer(buyer, now) })
		of := businessLine{o.Campaign.Vertical, o.Campaign.SubVertical}
		p.businessLines[of] = append(p.businessLines[of], o)
	}
	return p
}

// compileForAuctions sets the ping limiters and the reachable filter sets.
func (o *liveCampaign) compileForAuctions(limiterOf func(*market.Buyer) *auction.PingLimiter) {
	o.reachable = bitset.New(o.Len())
	for i := range o.Campaign.FilterSets {
		buyer := o.Campaign.FilterSets[i].Buyer
		o.Limiters = append(o.Limiters, limiterOf(buyer))
		if buyer.Ping != nil {
			o.reachable.Add(i)
		}
	}
}

// liveCampaign returns the live campaign with an id, or its test campaign. It returns nil
// if the catalog does not have it.
func (p *compiledCatalog) liveCampaign(id market.CampaignID, test bool) *liveCampaign {
	return p.campaigns[id].orTestCampaign(test)
}

// findAuctionCampaign returns the campaign for a supplier's ping with this line of business,
// or nil. It skips paused campaigns. If a configuration has several, which it should not, it
// returns the first by id.
func (e *Engine) findAuctionCampaign(p *compiledCatalog, supplier market.SupplierID, vertical, subVertical []byte, test bool) *liveCampaign {
	for _, o := range p.businessLines[businessLine{string(vertical), string(subVertical)}] {
		if paused, _ := e.state.PauseStatus(event.ObjectCampaign, o.Campaign.Ref); !paused && o.Campaign.AcceptsSupplier(supplier) {
			return o.orTestCampaign(test)
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

// newTestCampaign returns the test campaign of a campaign: the same filter sets in the same
// order, with the same states, filters, hours, lists, prices and floor. It has no caps, no
// funds and no duplicate rule, and its buyers have their test endpoints instead of the
// production ones.
//
// So the code treats a test lead like any other lead and finds no counter to change.
// liveCampaign.Test marks the few differences: a turn is read and not reserved, answers do
// not change a buyer's health, and events and requests are marked as a test.
//
// A filter set is excluded if its buyer has a production endpoint and no test endpoint. A
// buyer without any endpoint gets test leads recorded, like other leads.
//
// The auction over a test lead has a name of another kind (see pastauction.NameKind). So no
// production lead is sold at the bids of a test, and no test lead at production bids.
//
// The engine makes a test campaign at its first test lead, because most campaigns never
// have one. Rejected: to check at each cap, claim and endpoint whether the lead is a test. A
// forgotten check would charge a buyer.
func newTestCampaign(of *market.Campaign) *liveCampaign {
	campaign := *of
	campaign.Caps, campaign.Duplicates = nil, market.DuplicateRule{}
	campaign.FilterSets = make([]market.FilterSet, len(of.FilterSets))
	excluded := bitset.New(len(of.FilterSets))
	for i := range of.FilterSets {
		filterSet := &campaign.FilterSets[i]
		*filterSet = of.FilterSets[i]
		filterSet.Buyer, filterSet.Caps = withTestEndpoints(filterSet.Buyer), nil
		if lacksTestEndpoint(of.FilterSets[i].Buyer, of.Method) {
			excluded.Add(i)
		}
	}
	o := &liveCampaign{CampaignBidders: auction.CampaignBidders{CompiledFilterSets: selection.CompileFilterSets(&campaign), Test: true}, excluded: excluded}
	if campaign.Method == market.PingPost {
		o.compileForAuctions(func(*market.Buyer) *auction.PingLimiter { return nil })
	}
	return o
}

// withTestEndpoints returns the copy of a buyer for test leads.
func withTestEndpoints(b *market.Buyer) *market.Buyer {
	test := *b
	test.Ping, test.Post = b.TestPing, b.TestPost
	test.Caps, test.Funded, test.Credit = nil, false, 0
	return &test
}

// lacksTestEndpoint reports whether a buyer has a production endpoint that the method needs,
// but no test endpoint.
func lacksTestEndpoint(b *market.Buyer, method market.SelectionMethod) bool {
	return b.Post != nil && b.TestPost == nil || method == market.PingPost && b.Ping != nil && b.TestPing == nil
}

// orTestCampaign returns the campaign, or its test campaign for a test lead. The receiver
// may be nil.
func (o *liveCampaign) orTestCampaign(test bool) *liveCampaign {
	if o == nil || !test {
		return o
	}
	return o.testCampaign()
}

// initTestCampaign sets the function that makes the test campaign at its first use.
func (o *liveCampaign) initTestCampaign() {
	o.testCampaign = sync.OnceValue(func() *liveCampaign { return newTestCampaign(o.Campaign) })
}

// ExcludeUnmatched excludes the filter sets that do not match the lead, and those without a
// test endpoint.
func (o *liveCampaign) ExcludeUnmatched(lead *market.Lead, c *selection.Candidates) {
	o.CompiledFilterSets.ExcludeByLead(lead, c)
	if o.excluded != nil {
		c.ExcludeAll(o.excluded, market.OutcomeFiltered)
	}
}

// filterSetIndexOf returns the index of a buyer's filter set, or -1 if it has none or the test
// campaign excludes it.
func (o *liveCampaign) filterSetIndexOf(buyer market.Ref) int {
	for i := range o.Campaign.FilterSets {
		if o.Campaign.FilterSets[i].Buyer.Ref == buyer && (o.excluded == nil || !o.excluded.Has(i)) {
			return i
		}
	}
	return -1
}

// reserveTurn returns the next turn among the members of a set, and reserves it. For a test
// campaign it reads the turn without a reservation.
func (o *liveCampaign) reserveTurn(s *state.State, h *state.Reservation, set uint64, weights []int32) (turn event.RotationTurn, member uint32) {
	if o.Test {
		return event.RotationTurn{}, s.PeekTurn(o.Campaign.Ref, set, weights)
	}
	turn = s.ReserveTurn(h, o.Campaign.Ref, set, weights)
	return turn, turn.Member
}
