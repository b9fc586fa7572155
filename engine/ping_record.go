package engine

import (
	"pingpost/engine/auction"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// runAuctionAndRecordResult holds the auction for the ping and records the best bid. If there is no
// campaign, a filter rejects the lead, or too many exchanges forwarded the ping, it records that
// reason and pings no buyer.
func (p *pingWorkspace) runAuctionAndRecordResult() error {
	a := &p.auction
	p.record.Reason = p.reasonToSkipAuction()
	if p.record.Reason != market.ReasonNone {
		var campaign *market.Campaign
		if p.live != nil {
			campaign = p.live.Campaign
		}
		p.engine.opt.Observer.AuctionHeldOrSkipped(campaign, p.req.Supplier, a.SummarizeSupplierPingWithoutAuction(p.record.Reason, p.test))
		return nil
	}
	ceiling := p.now + maxBidValidity
	limit := min(p.expires-int64(auction.AnswerTimeMargin), ceiling-int64(p.live.Campaign.PingReserve))
	a.PrepareAuction(&p.live.CampaignFilterSetsWithPingLimiters, p.engine.state, p.record.Auction, p.now, limit, ceiling)
	a.Lead, a.Candidates, a.Request, a.Hops = &p.lead, &p.candidates, p.req.Request, p.req.Hops+1
	if err := p.engine.runPreparedAuction(a, p.live, p.req.Supplier, nil, p.timings); err != nil {
		return err
	}
	best, ok := a.FilterSetOfBestBid()
	if !ok {
		p.record.Reason = a.UnsoldReasonOfLatestStage()
		return nil
	}
	p.recordWinningBid(best)
	return nil
}

// reasonToSkipAuction returns the reason for which no buyer is pinged, or ReasonNone if the auction
// may begin.
func (p *pingWorkspace) reasonToSkipAuction() market.UnsoldReason {
	switch {
	case p.live == nil:
		return market.ReasonNoCampaign
	case p.req.Hops > maxHops:
		return market.ReasonLoop
	}
	p.lead.SetDecisionTime(p.now, p.live.Campaign.Zone)
	for i := range p.live.Campaign.Filters {
		if !p.live.Campaign.Filters[i].Accepts(&p.lead) {
			return market.ReasonFiltered
		}
	}
	return market.ReasonNone
}

// recordWinningBid records the bid of filterSetIndex as the winner. For a seller's ping it also
// records a new bid token and the passed filters, which are in the answer. An availability ping has
// no token, because the supplier names the buyer in its ingest.
func (p *pingWorkspace) recordWinningBid(filterSetIndex int) {
	p.candidates.Exclude(filterSetIndex, market.OutcomeWon)
	p.record.Until = p.auction.Bid(filterSetIndex).ValidUntil
	if p.endpoint == endpointPing {
		p.engine.opt.Entropy(p.record.Token[:])
		p.record.FiltersPassed = p.live.Campaign.ConditionsEachSaleMeets(filterSetIndex)
	}
}

// completeAuctionRecord fills in the fields of the auction's event that do not concern the
// winner: the request, all outcomes and bids, and the lead's fields.
func (p *pingWorkspace) completeAuctionRecord() {
	a, record := &p.auction, &p.record
	record.Request, record.Supplier = p.req.Request, p.req.Supplier.Ref
	record.Catalog = p.plan.catalog.Version
	record.Began, record.Deadline = p.now, p.now
	record.Keep = p.now + p.nanosUntilAuctionNameIsFree()
	record.SellerAuction = string(p.sellerAuction)
	record.Hops, record.Test = uint32(max(0, p.req.Hops)), p.test
	if p.live != nil {
		record.Campaign = p.live.Campaign.Ref
	}
	if a.IsPrepared() {
		record.Deadline = a.Deadline
		record.Trail = appendAuctionFilterSetOutcomes(record.Trail[:0], &p.candidates)
		record.Bids = a.AppendBidsWithOutcomes(record.Bids[:0])
	}
	p.copyMappedFieldsToAuctionEvent()
}

// nanosUntilAuctionNameIsFree returns how long no other auction can use this auction's name. For a
// ping without a campaign that is only maxBidValidity: no auction was held, so there is no bid to
// accept. Longer lifetimes would let such pings fill the memory.
func (p *pingWorkspace) nanosUntilAuctionNameIsFree() int64 {
	if p.live == nil {
		return maxBidValidity
	}
	return int64(p.engine.opt.PingIdempotency)
}

// copyMappedFieldsToAuctionEvent writes the ping's fields into the auction's event, because a post that
// accepts a bid may omit them. It writes only fields that the campaign's mapping has. Unmapped
// members go only to the buyers: no later step reads them, and a seller could fill the disk with
// them. A ping without a campaign has no post, so its event has no fields.
//
// The fields contain no contact data, because validation refuses a ping that has any.
func (p *pingWorkspace) copyMappedFieldsToAuctionEvent() {
	if p.live == nil {
		return
	}
	mapping, record := p.live.Campaign.Mapping, &p.record
	for slot := range p.lead.Values {
		value := &p.lead.Values[slot]
		if value.Kind != market.KindAbsent {
			record.Fields = append(record.Fields, event.LeadField{Name: mapping.FieldNameInLog(market.LeadFieldIndex(slot)), Kind: value.Kind, Text: value.Text})
		}
	}
}
