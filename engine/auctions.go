package engine

import (
	"errors"

	"pingpost/engine/auction"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/pastauction"
	"pingpost/engine/selection"
	"pingpost/engine/timing"
)

// PingsInFlight returns the number of pings that await a buyer's answer, for metrics.
func (e *Engine) PingsInFlight() int64 { return e.auctions.PingsInFlight() }

// OpenAuctions returns the number of open auctions, for metrics. An auction is open from its
// first ping to the last answer or its deadline.
func (e *Engine) OpenAuctions() int { return e.auctions.OpenAuctions() }

// newAuctionRunner returns the runner that holds all auctions. It uses the engine's clock, buyers
// and limits, and reports panics to the engine's observer.
func (e *Engine) newAuctionRunner() *auction.Runner {
	return auction.NewRunner(auction.RunnerOptions{
		Clock: e.opt.Clock, Buyers: e.opt.Buyers, MaxPings: int64(e.opt.MaxPings), Stop: e.stop,
		ReportPanic: func(err error) { e.opt.Observer.ReportFault("a ping panicked; please report it", err) },
	})
}

// runPreparedAuction runs the prepared auction, so that its candidates afterwards are the filter sets with
// a valid bid. It first excludes the buyers that may not be pinged. isListed reports whether a
// suppression list has the lead; nil skips the lists, because a ping has no contact data. Errors:
// ErrUnavailable if the exchange stops or too many pings are in flight; a *Refusal if the supplier
// has too many open auctions.
func (e *Engine) runPreparedAuction(preparedAuction *auction.Auction, campaign *compiledCampaign, supplier *market.Supplier, isListed func(*market.SuppressionListDefinition) bool, timings *timing.Timings) error {
	err := e.auctions.AddOpenAuction(supplier)
	switch {
	case errors.Is(err, auction.ErrTooManyAuctions):
		return &Refusal{Code: RateLimited, Limit: auction.MaxOpenAuctions(supplier), Reset: e.opt.Clock.Now() + maxBidValidity}
	case err != nil:
		return e.unavailableBeforeEvent()
	}
	defer e.auctions.RemoveOpenAuction(supplier)
	e.excludeBeforePings(preparedAuction, campaign, supplier, isListed)
	trace := timings.TraceOrNil()
	if trace != nil {
		preparedAuction.Tracer = trace
	}
	err = e.auctions.Run(preparedAuction)
	timings.AddTimeWaitedForBuyers(preparedAuction.Waited)
	if err != nil {
		return e.unavailableBeforeEvent()
	}
	trace.SetAuctionIfPinged(preparedAuction.ID, campaign.Campaign)
	e.opt.Observer.AuctionHeldOrSkipped(campaign.Campaign, supplier, preparedAuction.SummarizeAuction(e.opt.Clock.Now()))
	return nil
}

// excludeBeforePings excludes the candidates that runPreparedAuction must not ping: by state, filters,
// supplier, suppression lists (isListed, which may be nil), availability, or a missing ping endpoint. A lead
// without a state has no candidates, even if a buyer accepts all states.
func (e *Engine) excludeBeforePings(preparedAuction *auction.Auction, campaign *compiledCampaign, supplier *market.Supplier, isListed func(*market.SuppressionListDefinition) bool) {
	preparedAuction.Candidates.ResetToAll(campaign.CompiledFilterSets)
	if preparedAuction.Lead.USState() == market.NoState {
		preparedAuction.Candidates.ExcludeAll(preparedAuction.Candidates.Eligible, market.OutcomeWrongState)
		return
	}
	campaign.ExcludeUnmatched(supplier.ID, preparedAuction.Lead, preparedAuction.Candidates)
	if isListed != nil {
		campaign.ExcludeSuppressed(preparedAuction.Candidates, isListed)
	}
	cachedUnavailableFilterSets(campaign, e.state, preparedAuction.Began).ExcludeFrom(preparedAuction.Candidates)
	preparedAuction.Candidates.ExcludeAllExcept(campaign.reachable, market.OutcomeError)
	campaign.ExcludeAllButFirstOfEachBuyer(preparedAuction.Candidates)
}

// runAuctionAndReserveSale holds an auction for an ingested lead and reserves a sale to the best
// bidder. If that sale fails only because another request reserves the capacity,
// runAuctionAndReserveSale waits for that request and chooses again. It does not ping again.
func (in *leadSaleWorkspace) runAuctionAndReserveSale() (market.UnsoldReason, error) {
	e := in.engine
	a := &in.auction
	reserve := int64(in.live.Campaign.PostReserve)
	id := market.AuctionID(e.newULID(in.now, &in.random))
	a.PrepareAuction(&in.live.CampaignFilterSetsWithPingLimiters, e.state, id, in.now, in.answerDueNanos()-reserve, in.answerDueNanos())
	a.Lead, a.Candidates, a.Request, a.Hops = &in.lead, &in.candidates, in.req.Request, 1
	if err := e.runPreparedAuction(a, in.live, in.req.Supplier, in.inList, in.timings); err != nil {
		return market.ReasonNone, err
	}
	in.now = max(in.now, e.opt.Clock.Now())
	return in.chooseAndReserveRemainingBuyer()
}

// appendAuctionFilterSetOutcomes appends the outcomes of an auction's filter sets, each with its filter sets,
// for the event. The winner has OutcomeWon already. Filter sets that have no outcome yet made a
// valid bid that was not used: they get OutcomeLost.
func appendAuctionFilterSetOutcomes(outcomes []event.FilterSetsWithOutcome, candidates *selection.Candidates) []event.FilterSetsWithOutcome {
	outcomes = appendFilterSetsByOutcome(outcomes, candidates)
	if candidates.Eligible.NextFrom(0) >= 0 {
		outcomes = append(outcomes, event.FilterSetsWithOutcome{Outcome: market.OutcomeLost, FilterSets: candidates.Eligible})
	}
	return outcomes
}

// computeAuctionName returns the name (a hash) under which state and log know an auction of this
// supplier. auctionID is the auction's id; kind says whether the seller or the exchange chose it.
func (e *Engine) computeAuctionName(kind pastauction.AuctionIDKind, supplier *market.Supplier, auctionID []byte) [16]byte {
	return pastauction.ComputeAuctionName(&e.opt.Secret, kind, supplier.Ref, auctionID)
}

// ComputeSellerAuctionName returns the name (a hash) under which state and log know the auction with a
// seller's own auction id. It does not check that the auction exists. isTest selects the names of
// test auctions.
func (e *Engine) ComputeSellerAuctionName(supplier market.PermanentNumber, sellerAuctionID string, isTest bool) [16]byte {
	return pastauction.ComputeAuctionName(&e.opt.Secret, pastauction.BySellerID.ForTest(isTest), supplier, []byte(sellerAuctionID))
}
