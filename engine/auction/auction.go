package auction

import (
	"cmp"
	"slices"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/selection"
)

// CampaignFilterSetsWithPingLimiters are the filter sets of a campaign and, if its method is ping_post,
// the ping limiters of their buyers. Requests of the campaign share them.
type CampaignFilterSetsWithPingLimiters struct {
	*selection.CompiledFilterSets
	Limiters []*BuyerPingLimiter // by filter set; empty unless the method is ping_post; nil elements in a test campaign
	Test     bool                // a test campaign
}

// CapacityChecker reports whether a buyer's caps and funds allow a sale. It reserves nothing.
// state.State implements it.
type CapacityChecker interface {
	IsCapFull(limit *market.Cap, amount market.Money, now int64) (full bool, until int64)
	LacksFunds(buyer *market.Buyer, amount market.Money) bool
}

// Tracer records the pings of a traced request, for the operator's tracing system.
// timing.RequestTrace implements it.
type Tracer interface {
	// NewSpanIDAndTraceparent returns the id of a new span and the traceparent header for the buyer.
	NewSpanIDAndTraceparent() (span uint64, traceparent string)
	// AddPing records a ping. Times are in Unix nanoseconds.
	AddPing(span uint64, filterSet int, buyer market.BuyerID, from, to int64, result *market.BuyerPingResult, bodySize int)
}

// Auction is the scratch memory of one auction: the pinged buyers, their answers and the rank of
// the bids. It is part of the scratch memory of the request that holds it; the lead and the
// candidates belong to that request. The request calls PrepareAuction, excludes the candidates
// that may not be pinged, and calls Runner.Run.
//
// Invariants:
//
//   - Every filter set of the campaign ends with exactly one outcome. Filter sets that are not
//     pinged or whose bid is invalid are excluded from the candidates with their outcome. Those
//     with a valid bid stay candidates until the lead is sold to one of them. A valid bid that
//     does not win has lost.
//   - All buyers have the same deadline, and each ping names it as expires_at.
//   - An auction reserves nothing. It compares each bid with the free capacity at that instant.
//     The sale reserves the capacity, or finds it used up.
//   - The rank depends on the bids alone: see selection.RankedBid.
type Auction struct {
	ID       market.AuctionID
	Began    int64 // Unix nanoseconds
	Deadline int64 // Unix nanoseconds

	// The caller sets these after PrepareAuction.
	Lead       *market.Lead
	Candidates *selection.Candidates
	Request    market.RequestID
	Hops       int    // exchanges that the pings have passed, including this one
	Tracer     Tracer // nil: not traced

	Waited int64 // nanoseconds from the first ping to the last answer or the deadline

	bidders  *CampaignFilterSetsWithPingLimiters
	capacity CapacityChecker
	terms    selection.BidRequirements

	valid    []event.Bid // valid bids, by filter set
	invalid  []event.Bid // invalid and missing bids of pinged buyers, by filter set
	offers   []selection.RankedBid
	timedOut bool // no pinged buyer answered in time, or there was no time for a ping

	summary AuctionOutcomeSummary
}

// AnswerTimeMargin is the time that remains for the answer when an auction ends because the caller stops
// waiting.
const AnswerTimeMargin = 50 * time.Millisecond

// maxOffers limits the bids of an auction that can be accepted, the best first. The tokens of
// further bids are not recorded. So the event of an auction fits the largest record of the log
// for any number of buyers.
const maxOffers = 256

// PrepareAuction sets the auction's id, times and terms before Run. The auction begins at nowNanos.
// It ends after the campaign's timeout, but not after latestEndNanos. Its bids are valid until
// latestBidExpiryNanos at the latest.
func (a *Auction) PrepareAuction(bidders *CampaignFilterSetsWithPingLimiters, capacity CapacityChecker, id market.AuctionID, nowNanos, latestEndNanos, latestBidExpiryNanos int64) {
	a.bidders, a.capacity = bidders, capacity
	a.ID, a.Began = id, nowNanos
	a.Deadline = min(nowNanos+int64(bidders.Campaign.BidTimeout), latestEndNanos)
	a.terms = selection.NewBidRequirements(bidders.Campaign, a.Deadline, latestBidExpiryNanos)
}

// ResetKeepingMemory empties the auction for the next request. It keeps the memory of the
// lists, but not the texts of the bids.
func (a *Auction) ResetKeepingMemory() {
	clear(a.valid)
	clear(a.invalid)
	*a = Auction{valid: a.valid[:0], invalid: a.invalid[:0], offers: a.offers[:0], summary: AuctionOutcomeSummary{Pings: a.summary.Pings[:0]}}
}

// IsPrepared reports whether PrepareAuction was called since the last ResetKeepingMemory: the
// request has an auction.
func (a *Auction) IsPrepared() bool { return a.ID != market.AuctionID{} }

// Run pings the buyers of all candidates, waits for the answers and ranks the bids. Afterwards
// the candidates are the filter sets with a valid bid. The error is ErrUnavailable, if the
// exchange stops.
func (r *Runner) Run(a *Auction) error {
	c, _ := r.collectors.Get().(*bidCollector)
	c.users.Store(1)
	defer c.endUseAndRecycleIfLast()
	a.addPingsOrExcludeCandidates(c)
	if len(c.pings) > 0 {
		began := r.opt.Clock.Now()
		err := c.sendPingsAndWait(a.Deadline)
		a.Waited = r.opt.Clock.Now() - began
		if err != nil {
			return err
		}
		a.judgeAnswersAndRecordHealth(c)
		a.tracePings(c, began)
	}
	selection.SortBestFirst(a.offers)
	for _, offer := range a.offers[min(maxOffers, len(a.offers)):] {
		a.Bid(offer.FilterSet).Token = ""
	}
	return nil
}

// ExcludeAsRunWouldWithoutPings excludes the candidates that Run does not ping, and sends no ping. The remaining
// candidates are the filter sets that Run would ping. The auction belongs to a test campaign: its
// limiters are nil, so no token is used.
func (r *Runner) ExcludeAsRunWouldWithoutPings(a *Auction) {
	c, _ := r.collectors.Get().(*bidCollector)
	c.users.Store(1)
	defer c.endUseAndRecycleIfLast()
	a.addPingsOrExcludeCandidates(c)
}

// addPingsOrExcludeCandidates adds a ping to the collector for every candidate. It excludes the
// candidates whose buyer is unhealthy or over its ping rate, or whose adapter cannot encode the
// lead. After the auction's deadline it excludes all candidates.
func (a *Auction) addPingsOrExcludeCandidates(collector *bidCollector) {
	in := a.Candidates.Eligible
	for i := in.NextFrom(0); i >= 0; i = in.NextFrom(i + 1) {
		outcome := market.OutcomeTimeout
		if a.Began < a.Deadline {
			outcome = a.bidders.Limiters[i].CheckHealthAndUseToken(a.Began)
		} else {
			a.timedOut = true
		}
		if outcome == market.OutcomeNone && !a.addPingToBuyer(collector, i) {
			outcome = market.OutcomeError
		}
		if outcome != market.OutcomeNone {
			a.Candidates.Exclude(i, outcome)
		}
	}
}

// addPingToBuyer adds the ping to one filter set's buyer to the collector. It returns false
// if the buyer's adapter cannot encode the lead. Buyers without an adapter share one encoded
// body.
func (a *Auction) addPingToBuyer(c *bidCollector, filterSetIndex int) (encodable bool) {
	campaign := a.bidders.Campaign
	buyer := campaign.FilterSets[filterSetIndex].Buyer
	endpoint := buyer.Ping
	head := market.BuyerPingMetadata{Auction: a.ID, Vertical: campaign.Vertical, SubVertical: campaign.SubVertical, ExpiresAt: a.Deadline}
	body := [2]int{len(c.bodies), 0}
	switch {
	case endpoint.Adapter != nil:
		written, ok := endpoint.Adapter.AppendPing(c.bodies, campaign.Mapping, a.Lead, head)
		if !ok {
			return false
		}
		c.bodies = written
		body[1] = len(c.bodies)
	case c.common != [2]int{}:
		body = c.common
	default:
		c.bodies = campaign.Mapping.AppendPing(c.bodies, a.Lead, head)
		body[1] = len(c.bodies)
		c.common = body
	}
	if len(c.pings) == 0 {
		c.auction = a.ID.AppendAsText(c.auction[:0])
		c.key = string(c.auction)
	}
	p := c.add()
	p.filterSet, p.body, p.limiter = filterSetIndex, body, a.bidders.Limiters[filterSetIndex]
	req := &p.request
	req.Buyer, req.Endpoint, req.RequestID, req.Hops, req.Auction = buyer.ID, *endpoint, a.Request, a.Hops, c.auction
	req.Test = a.bidders.Test
	if a.Tracer != nil {
		p.span, req.Traceparent = a.Tracer.NewSpanIDAndTraceparent()
	}
	if endpoint.AdapterProtocol == nil || endpoint.AdapterProtocol.KeyHeader != "" {
		req.IdempotencyKey = c.key
	}
	return true
}

// tracePings records all pings of the auction in the request's trace, if it has one. sentAtNanos is
// the time at which they were sent.
func (a *Auction) tracePings(c *bidCollector, sentAtNanos int64) {
	if a.Tracer == nil {
		return
	}
	for i := range c.pings {
		p := &c.pings[i]
		buyer := a.bidders.Campaign.FilterSets[p.filterSet].Buyer.ID
		a.Tracer.AddPing(p.span, p.filterSet, buyer, sentAtNanos, p.answeredAt, &p.result, len(p.request.Body))
	}
}

// Bid returns the valid bid of a filter set. It panics if the filter set has none.
func (a *Auction) Bid(filterSet int) *event.Bid {
	i, ok := slices.BinarySearchFunc(a.valid, filterSet, func(b event.Bid, filterSet int) int { return cmp.Compare(int(b.FilterSet), filterSet) })
	if !ok {
		panic("BUG: a filter set without a valid bid")
	}
	return &a.valid[i]
}

// FilterSetOfBestBid returns the filter set with the best bid. found is false if no bid was valid.
func (a *Auction) FilterSetOfBestBid() (filterSetIndex int, found bool) {
	if len(a.offers) == 0 {
		return -1, false
	}
	return a.offers[0].FilterSet, true
}

// NextBestRemainingFilterSet returns the filter set whose bid is the best among the remaining
// candidates and has not expired. It returns -1 if there is none. The sale tries the bids in this
// order.
func (a *Auction) NextBestRemainingFilterSet(nowNanos int64) (filterSetIndexOrMinusOne int) {
	for _, offer := range a.offers[:min(maxOffers, len(a.offers))] {
		if a.Candidates.Eligible.Has(offer.FilterSet) && nowNanos < a.Bid(offer.FilterSet).ValidUntil {
			return offer.FilterSet
		}
	}
	return -1
}

// UnsoldReasonOfLatestStage returns the reason that the supplier gets if no buyer bought the lead: that
// of the furthest stage that a filter set reached. A lead without a state gets ReasonNoStateMatch. If
// no pinged buyer answered in time, ReasonTimeout replaces ReasonNoBid. A remaining candidate reached
// the stage of ReasonBidExpired: its valid bid has expired or is not among the best maxOffers.
func (a *Auction) UnsoldReasonOfLatestStage() market.UnsoldReason {
	reason := a.Candidates.UnsoldReasonOfLatestStage()
	switch {
	case a.Lead.USState() == market.NoState:
		return market.ReasonNoStateMatch
	case a.Candidates.Eligible.NextFrom(0) >= 0:
		return reason.LaterStageReason(market.ReasonBidExpired)
	case reason == market.ReasonNoBid && a.timedOut:
		return market.ReasonTimeout
	}
	return reason
}
