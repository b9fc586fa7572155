package engine

import (
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"pingpost/engine/auction"
	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/exclusion"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
	"pingpost/engine/market/fingerprint"
	"pingpost/engine/selection"
	"pingpost/engine/state"
)

// compiledCatalog is a configuration, compiled for requests: a catalog with the values that are
// computed from it. It is immutable except for the cached availability, which changes with events
// and hours. A request uses one compiledCatalog from its beginning to its end, even if a new one
// becomes active.
type compiledCatalog struct {
	catalog       *market.Catalog
	campaigns     map[market.CampaignID]*compiledCampaign
	tables        map[market.PermanentNumber]*fingerprint.FingerprintTable // of suppression lists, by the list's number
	businessLines map[businessLine][]*compiledCampaign                     // ping_post campaigns, by line of business, then id
	webhooks      map[market.PermanentNumber]*market.OutboundEndpoint      // by supplier
}

// businessLine is the vertical and sub-vertical (such as auto insurance) by which a seller's ping
// finds its campaign.
type businessLine struct{ vertical, subVertical string }

// compiledCampaign is a campaign of a configuration, compiled for requests. It can also be the test
// campaign, which gets the campaign's test leads.
type compiledCampaign struct {
	auction.CampaignFilterSetsWithPingLimiters
	availability atomic.Pointer[selection.UnavailableFilterSets]
	rebuilding   sync.Mutex // held while a request computes availability

	reachable bitset.Set // of a ping_post campaign: the filter sets whose buyer has a ping endpoint

	withTerms []*compiledCampaign // for leads to which an entry of the campaign's terms applies, by entry

	excluded     bitset.Set // of a test campaign: the filter sets without a test endpoint
	testCampaign func() *compiledCampaign
}

// compileCatalog compiles a new configuration for requests. suppressionTables are the contents of
// the suppression lists, by the list's number. limiters are the ping limiters of all buyers, which
// outlive a configuration.
func compileCatalog(catalog *market.Catalog, suppressionTables map[market.PermanentNumber]*fingerprint.FingerprintTable, limiters auction.PingLimitersByBuyer, nowNanos int64) *compiledCatalog {
	p := &compiledCatalog{
		catalog: catalog, tables: suppressionTables,
		campaigns:     make(map[market.CampaignID]*compiledCampaign, len(catalog.Campaigns)),
		businessLines: make(map[businessLine][]*compiledCampaign),
		webhooks:      make(map[market.PermanentNumber]*market.OutboundEndpoint),
	}
	for _, supplier := range catalog.Suppliers {
		if supplier.Webhooks != nil {
			p.webhooks[supplier.Ref] = supplier.Webhooks
		}
	}
	for _, id := range slices.Sorted(maps.Keys(catalog.Campaigns)) {
		o := &compiledCampaign{CampaignFilterSetsWithPingLimiters: auction.CampaignFilterSetsWithPingLimiters{CompiledFilterSets: selection.CompileFilterSets(catalog.Campaigns[id])}}
		o.initLazyTestCampaign()
		p.campaigns[id] = o
		if o.Campaign.Method == market.PingPost {
			o.compileForAuctions(func(buyer *market.Buyer) *auction.BuyerPingLimiter {
				return limiters.UpdateOrAddForBuyer(buyer, nowNanos)
			})
			of := businessLine{o.Campaign.Vertical, o.Campaign.SubVertical}
			p.businessLines[of] = append(p.businessLines[of], o)
		}
		o.compileTerms()
	}
	return p
}

// compileForAuctions prepares a ping_post campaign: it sets the ping limiter of each filter set's
// buyer, and the filter sets whose buyer has a ping endpoint.
func (o *compiledCampaign) compileForAuctions(limiterOf func(*market.Buyer) *auction.BuyerPingLimiter) {
	o.reachable = bitset.New(o.Len())
	for i := range o.Campaign.FilterSets {
		buyer := o.Campaign.FilterSets[i].Buyer
		o.Limiters = append(o.Limiters, limiterOf(buyer))
		if buyer.Ping != nil {
			o.reachable.Add(i)
		}
	}
}

// compileTerms compiles an extra copy of the campaign for each entry of its terms, with that entry's floor, payout and
// caps, and with its own availability cache. A lead is decided in the copy of the entry that applies to it, so the
// checks need no special case for terms. A campaign without terms has no copies.
func (o *compiledCampaign) compileTerms() {
	for i := range o.Campaign.Terms {
		limited := &compiledCampaign{CampaignFilterSetsWithPingLimiters: o.CampaignFilterSetsWithPingLimiters, reachable: o.reachable, excluded: o.excluded}
		limited.CompiledFilterSets = o.CompiledFilterSets.WithTerms(i)
		o.withTerms = append(o.withTerms, limited)
	}
}

// selfOrWithTerms returns the campaign's copy for the terms that apply to a lead, or the campaign itself if no terms
// apply. For a nil campaign it returns nil.
func (o *compiledCampaign) selfOrWithTerms(supplier *market.Supplier, lead *market.Lead) *compiledCampaign {
	if o == nil || len(o.withTerms) == 0 {
		return o
	}
	if i := o.Campaign.IndexOfTerms(supplier.ID, lead); i >= 0 {
		return o.withTerms[i]
	}
	return o
}

// findCampaignOrItsTestCampaign returns the campaign with this id, or its test campaign if forTestLead
// is set. It returns nil if the configuration does not have the campaign.
func (p *compiledCatalog) findCampaignOrItsTestCampaign(id market.CampaignID, forTestLead bool) *compiledCampaign {
	return p.campaigns[id].selfOrTestCampaign(forTestLead)
}

// findAuctionCampaign returns the campaign for a supplier's ping with this line of business, or
// nil. It skips paused campaigns and those that do not accept the supplier. If several campaigns
// fit, which a configuration should avoid, it returns the first by id.
func (e *Engine) findAuctionCampaign(p *compiledCatalog, supplier market.SupplierID, vertical, subVertical []byte, forTestLead bool) *compiledCampaign {
	for _, o := range p.businessLines[businessLine{string(vertical), string(subVertical)}] {
		if paused, _ := e.state.PauseStatus(event.ObjectCampaign, o.Campaign.Ref); !paused && o.Campaign.AcceptsSupplier(supplier) {
			return o.selfOrTestCampaign(forTestLead)
		}
	}
	return nil
}

// ActiveCatalogOrNil returns the active catalog, or nil until the first Configure.
func (e *Engine) ActiveCatalogOrNil() *market.Catalog {
	if p := e.plan.Load(); p != nil {
		return p.catalog
	}
	return nil
}

// compileTestCampaign returns the test campaign of a campaign, which gets its test leads. It has
// the same filter sets in the same order, with the same states, filters, hours, lists, prices,
// floor and terms. It has no caps, no funds and no duplicate rule. Its buyers have their test
// endpoints instead of the production ones.
//
// So the code treats a test lead like any other lead and finds no counter to change.
// compiledCampaign.Test marks the few differences. A test lead reads the rotation's next turn and
// does not reserve it. Its answers do not change a buyer's health. Its events and requests are
// marked as a test.
//
// A filter set is excluded if its buyer has a production endpoint and no test endpoint. For a
// buyer without any endpoint, test leads are only recorded, like other leads.
//
// The name of a test lead's auction is made from another kind of identifier (see
// pastauction.AuctionIDKind). So no production lead is sold at the bids of a test, and no test lead at
// production bids.
//
// The engine makes a test campaign at its first test lead, because most campaigns never have one.
// Rejected: to check at each cap, claim and endpoint whether the lead is a test. A forgotten
// check would charge a buyer.
func compileTestCampaign(production *market.Campaign) *compiledCampaign {
	campaign := *production
	campaign.Caps, campaign.Duplicates = nil, market.DuplicateRule{}
	campaign.Terms = slices.Clone(production.Terms)
	for i := range campaign.Terms {
		campaign.Terms[i].Caps = nil
	}
	campaign.FilterSets = make([]market.FilterSet, len(production.FilterSets))
	excluded := bitset.New(len(production.FilterSets))
	for i := range production.FilterSets {
		filterSet := &campaign.FilterSets[i]
		*filterSet = production.FilterSets[i]
		filterSet.Buyer, filterSet.Caps = newTestBuyer(filterSet.Buyer), nil
		filterSet.Modifiers = market.WithoutCapFactors(filterSet.Modifiers)
		if LacksRequiredTestEndpoint(production.FilterSets[i].Buyer, production.Method) {
			excluded.Add(i)
		}
	}
	o := &compiledCampaign{CampaignFilterSetsWithPingLimiters: auction.CampaignFilterSetsWithPingLimiters{CompiledFilterSets: selection.CompileFilterSets(&campaign), Test: true}, excluded: excluded}
	if campaign.Method == market.PingPost {
		o.compileForAuctions(func(*market.Buyer) *auction.BuyerPingLimiter { return nil })
	}
	o.compileTerms()
	return o
}

// newTestBuyer returns a copy of buyer b for a test campaign: with its test endpoints in
// place of the production ones, and without caps and funds.
func newTestBuyer(b *market.Buyer) *market.Buyer {
	test := *b
	test.Ping, test.Post = b.TestPing, b.TestPost
	test.Caps, test.Funded, test.Credit = nil, false, 0
	return &test
}

// LacksRequiredTestEndpoint reports whether a buyer cannot get test leads: it has a production endpoint
// that the campaign's method needs, but no test endpoint to replace it.
func LacksRequiredTestEndpoint(b *market.Buyer, method market.BuyerSelectionMethod) bool {
	return b.Post != nil && b.TestPost == nil || method == market.PingPost && b.Ping != nil && b.TestPing == nil
}

// selfOrTestCampaign returns the campaign itself, or its test campaign if forTestLead is set. A nil
// campaign stays nil.
func (o *compiledCampaign) selfOrTestCampaign(forTestLead bool) *compiledCampaign {
	if o == nil || !forTestLead {
		return o
	}
	return o.testCampaign()
}

// initLazyTestCampaign sets o.testCampaign, a function that makes the test campaign at its first
// call. Later calls return the test campaign made then.
func (o *compiledCampaign) initLazyTestCampaign() {
	o.testCampaign = sync.OnceValue(func() *compiledCampaign { return compileTestCampaign(o.Campaign) })
}

// ExcludeUnmatched excludes the filter sets that do not accept the lead by states, filters or supplier. In a
// test campaign it also excludes those whose buyer has a production endpoint but no test endpoint.
func (o *compiledCampaign) ExcludeUnmatched(supplier market.SupplierID, lead *market.Lead, candidates *selection.Candidates) {
	o.ExcludeByUSStateAndFilters(lead, candidates)
	o.ExcludeBySupplier(supplier, candidates)
	if o.excluded != nil {
		candidates.ExcludeAll(o.excluded, market.OutcomeFiltered)
	}
}

// filterSetOfBid returns the index of the filter set that made a bid. It returns -1 if that filter set is no longer in
// the configuration, or if the test campaign excludes it.
func (o *compiledCampaign) filterSetOfBid(bid *event.Bid) (indexOrMinusOne int) {
	for i := range o.Campaign.FilterSets {
		set := &o.Campaign.FilterSets[i]
		if set.Buyer.Ref == bid.Buyer && set.ID == bid.Set && (o.excluded == nil || !o.excluded.Has(i)) {
			return i
		}
	}
	return -1
}

// reserveRotationTurnUnlessTest returns the next turn in a rotation, by which filter sets get leads in
// proportion to their weights, and reserves it. rotationID identifies the rotation, and memberIndex
// is the index in weights of the filter set that gets the lead. For a test campaign it reads the
// turn without a reservation.
func (o *compiledCampaign) reserveRotationTurnUnlessTest(s *state.State, reserved *state.RequestReservations, rotationID uint64, weights []int32) (turn event.RotationTurn, memberIndex uint32) {
	if o.Test {
		return event.RotationTurn{}, s.PeekRotationTurn(o.Campaign.Ref, rotationID, weights)
	}
	turn = s.ReserveRotationTurn(reserved, o.Campaign.Ref, rotationID, weights)
	return turn, turn.Member
}

// cachedUnavailableFilterSets returns the filter sets of the campaign that no lead can be sold to now. It
// caches the result until an event may have changed it, or opening hours, modifiers or cap periods change. So
// a lead does not check a thousand caps. Concurrent requests wait for the one that computes the result.
func cachedUnavailableFilterSets(campaign *compiledCampaign, s *state.State, nowNanos int64) *selection.UnavailableFilterSets {
	if cached := campaign.validAvailabilityOrNil(s, nowNanos); cached != nil {
		return cached
	}
	campaign.rebuilding.Lock()
	defer campaign.rebuilding.Unlock()
	if cached := campaign.validAvailabilityOrNil(s, nowNanos); cached != nil {
		return cached
	}
	a := selection.NewEmptyUnavailableFilterSets(campaign.CompiledFilterSets)
	a.Version, a.Until = s.BuyerAvailabilityVersion(campaign.Campaign.Ref), math.MaxInt64 // before the checks, so that an event during the checks invalidates the result
	if !isOpenAndLimitValidity(campaign.Campaign.Schedule, nowNanos, a) {
		a.Closed.ResetToAllBelow(campaign.Len())
	}
	for i := range campaign.Campaign.FilterSets {
		addUnavailableReasons(campaign, i, s, nowNanos, a)
	}
	campaign.availability.Store(a)
	return a
}

// validAvailabilityOrNil returns the cached availability, or nil if it may be out of date.
func (o *compiledCampaign) validAvailabilityOrNil(s *state.State, nowNanos int64) *selection.UnavailableFilterSets {
	cached := o.availability.Load()
	if cached == nil || cached.Version != s.BuyerAvailabilityVersion(o.Campaign.Ref) || nowNanos >= cached.Until {
		return nil
	}
	return cached
}

// addUnavailableReasons adds the filter set to unavailable under each reason for which no lead can
// be sold to it now. It lowers Until to the time at which a reason may change by itself.
func addUnavailableReasons(campaign *compiledCampaign, filterSetIndex int, s *state.State, nowNanos int64, unavailable *selection.UnavailableFilterSets) {
	filterSet := &campaign.Campaign.FilterSets[filterSetIndex]
	current, until := campaign.PriceAndCapsAt(filterSetIndex, nowNanos)
	unavailable.Until = min(unavailable.Until, until)
	price := selection.FixedPriceOrMinimumBid(campaign.Campaign, current.Price)
	s.AddCampaignOfBuyer(campaign.Campaign.Ref, filterSet.Buyer.Ref)
	if !isOpenAndLimitValidity(filterSet.Buyer.Schedule, nowNanos, unavailable) || !isOpenAndLimitValidity(filterSet.Schedule, nowNanos, unavailable) {
		unavailable.Closed.Add(filterSetIndex)
	}
	if current.NoCapacity {
		unavailable.Capped.Add(filterSetIndex)
	}
	for _, limit := range current.Caps {
		full, until := s.IsCapFull(limit, price, nowNanos)
		unavailable.Until = min(unavailable.Until, until)
		if full {
			unavailable.Capped.Add(filterSetIndex)
		}
	}
	if s.LacksFunds(filterSet.Buyer, price) {
		unavailable.NoFunds.Add(filterSetIndex)
	}
	if paused, _ := s.PauseStatus(event.ObjectBuyer, filterSet.Buyer.Ref); paused {
		unavailable.Paused.Add(filterSetIndex)
	}
	if s.CountUnknownDeliveries(filterSet.Buyer.Ref, campaign.Test) >= exclusion.MaxUnconfirmedDeliveries {
		unavailable.Unhealthy.Add(filterSetIndex)
	}
	if _, ok := campaign.Campaign.Payout.AmountAtPrice(price); !ok || price < campaign.Campaign.Floor {
		unavailable.BelowFloor.Add(filterSetIndex)
	}
}

// isOpenAndLimitValidity reports whether nowNanos is within the opening hours; nil means always. It
// lowers cacheEntry.Until to the time at which the hours next begin or end, if that is earlier.
func isOpenAndLimitValidity(hoursOrNil *calendar.WeeklySchedule, nowNanos int64, cacheEntry *selection.UnavailableFilterSets) bool {
	if hoursOrNil == nil {
		return true
	}
	within, until := hoursOrNil.IsOpenAt(nowNanos)
	cacheEntry.Until = min(cacheEntry.Until, until)
	return within
}
