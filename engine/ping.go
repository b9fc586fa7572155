package engine

import (
	"fmt"
	"time"

	"pingpost/engine/auction"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/pastauction"
	"pingpost/engine/selection"
	"pingpost/engine/state"
	"pingpost/engine/timing"
)

// SupplierPingRequest is a ping as it arrived: a seller's ping (POST /v1/ping) or an availability ping
// (POST /api/v1/ping). The engine reads the memory of its fields until the call returns.
type SupplierPingRequest struct {
	Supplier *market.Supplier    // the owner of the credential
	Members  []market.JSONMember // of the body
	Body     []byte              // the body's bytes, for the idempotency key's fingerprint
	Key      []byte              // Idempotency-Key; empty: none
	BadKey   bool                // the Idempotency-Key header is malformed
	Test     bool                // the request asks for a test auction
	BadTest  bool                // the X-Pingpost-Test header is malformed
	Faults   []market.FieldError // of the request outside its body; reported with the body's
	Request  market.RequestID
	Received int64           // Unix nanoseconds
	Hops     int             // the number of exchanges that have forwarded it
	Timings  *timing.Timings // accumulates the time that the call waits; nil: not measured
}

// SupplierPingAnswer is the answer to a ping. Amounts are the supplier's payout, not the buyer's price.
// Times are in Unix nanoseconds.
type SupplierPingAnswer struct {
	Auction  market.AuctionID
	Request  market.RequestID    // of the first call with this key
	Reason   market.UnsoldReason // why there is no bid; ReasonNone if there is one
	Replayed bool

	// Of a seller's ping.
	SellerAuction string // the seller's own auction id
	Bid           bool
	Token         market.ExchangeBidToken
	Amount        market.Money
	Currency      market.Currency
	ValidUntil    int64
	Passed        market.ConditionsMetByLead

	// Of an availability ping.
	Campaign  string
	ExpiresAt int64
	Offers    []AvailabilityPingOffer // best first
}

// AvailabilityPingOffer is the bid of one buyer in the answer to an availability ping. Its amount is the
// supplier's payout.
type AvailabilityPingOffer struct {
	Buyer      string
	Amount     market.Money
	Currency   market.Currency
	ValidUntil int64
}

// pingWorkspace is the workspace of one ping. A pool keeps the workspaces. A workspace belongs to one
// goroutine at a time.
type pingWorkspace struct {
	commonRequestFields
	req      *SupplierPingRequest
	endpoint byte
	plan     *compiledCatalog
	test     bool              // the auction is for a test lead
	live     *compiledCampaign // nil: no campaign matches

	sellerAuction []byte // the seller's own auction id
	expires       int64  // Unix nanoseconds: when the caller stops waiting

	lead       market.Lead
	faults     []market.FieldError
	candidates selection.Candidates
	auction    auction.Auction
	reserved   state.RequestReservations
	record     event.PingAuctionCompleted
	pending    pendingLogEvent // of record and reserved
	scratch    []byte          // memory for hashing
	random     [10]byte        // memory for newULID
}

// maxBidValidity is the time after the start of an auction at which its bids expire at the latest.
const maxBidValidity = int64(5 * time.Second)

// maxHops is the number of exchanges that may forward a ping one after another. More of them
// indicate a loop, and the ping gets no bid.
const maxHops = 3

// PingForBestBid holds an auction for a seller's ping (POST /v1/ping) and answers with the best bid and
// its token. It returns when the result, a bid or no bid, is durable. Errors are a *Refusal,
// ErrUnavailable, ErrBusy, or the log's failure; after an error no auction is recorded.
func (e *Engine) PingForBestBid(req *SupplierPingRequest) (SupplierPingAnswer, error) {
	return e.servePing(req, endpointPing)
}

// PingForAllBids holds an auction like PingForBestBid, but answers with all valid bids. The
// supplier may then name one of the buyers in an ingest. It serves POST /api/v1/ping.
func (e *Engine) PingForAllBids(req *SupplierPingRequest) (SupplierPingAnswer, error) {
	return e.servePing(req, endpointAvailability)
}

// servePing is the common part of PingForBestBid and PingForAllBids: it takes a workspace from the
// pool, runs the ping in it and returns the workspace. pingEndpoint says which of the two it is.
func (e *Engine) servePing(req *SupplierPingRequest, pingEndpoint byte) (SupplierPingAnswer, error) {
	if err := e.rejectIfStoppedOrAtLimit(); err != nil {
		return SupplierPingAnswer{}, err
	}
	plan := e.plan.Load()
	if plan == nil {
		return SupplierPingAnswer{}, ErrUnavailable
	}
	p, _ := e.pings.Get().(*pingWorkspace)
	returned := false
	defer func() {
		if !returned {
			e.state.ReleaseAll(&p.reserved) // after a panic the process continues
		}
	}()
	p.resetForRequest(e, req, plan, pingEndpoint)
	answer, err := p.runPing()
	p.releaseReservationsAndClear()
	returned = true
	e.pings.Put(p)
	return answer, err
}

func (p *pingWorkspace) resetForRequest(e *Engine, req *SupplierPingRequest, plan *compiledCatalog, endpointNumber byte) {
	p.commonRequestFields = commonRequestFields{engine: e, now: req.Received, received: req.Received, timings: req.Timings}
	p.req, p.plan, p.live, p.endpoint = req, plan, nil, endpointNumber
	p.test = req.Test || req.Supplier.Test
	p.sellerAuction = nil
	p.expires = req.Received + maxBidValidity
	p.faults = p.faults[:0]
	p.record.ResetKeepingCapacity()
	p.candidates.ClearOutcomes()
	p.auction.ResetKeepingMemory()
}

func (p *pingWorkspace) releaseReservationsAndClear() {
	p.timings.TraceOrNil().SetPingOutcomes(&p.auction)
	p.engine.state.ReleaseAll(&p.reserved)
	clear(p.record.Fields)
	clear(p.record.Bids)
	p.auction.ResetKeepingMemory()
	p.req, p.plan, p.live, p.timings = nil, nil, nil, nil
}

func (p *pingWorkspace) runPing() (SupplierPingAnswer, error) {
	if len(p.req.Key) > 0 && !p.req.BadKey {
		if answer, found, err := p.answerRepeatedPingOrClaimKey(); found || err != nil {
			return answer, err
		}
	}
	check := p.parseSellerPing
	if p.endpoint == endpointAvailability {
		check = p.parseAvailabilityPing
	}
	if err := check(); err != nil {
		return SupplierPingAnswer{}, err
	}
	p.live = p.live.selfOrWithTerms(p.req.Supplier, &p.lead)
	if err := p.assignIDAndClaimAuctionName(); err != nil {
		return SupplierPingAnswer{}, err
	}
	if err := p.runAuctionAndRecordResult(); err != nil {
		return SupplierPingAnswer{}, err
	}
	p.completeAuctionRecord()
	if err := p.commitAuction(); err != nil {
		return SupplierPingAnswer{}, err
	}
	p.engine.recent.Add(&p.record, p.pending.encoded, p.engine.opt.Clock.Now())
	return p.engine.newSupplierPingAnswer(&p.record), nil
}

// commitAuction makes the auction's event durable and applies it. After an error the reservations
// are released, now or by releaseReservationsAndClear.
func (p *pingWorkspace) commitAuction() error {
	clock := p.engine.opt.Clock
	began := clock.Now()
	if err := p.pending.encodeAndQueue(&p.record, &p.reserved); err != nil {
		return err
	}
	err := p.pending.waitUntilApplied()
	p.timings.AddCommitTime(began, clock.Now())
	return err
}

// answerRepeatedPingOrClaimKey returns the answer of the first ping with this idempotency key, if
// there was one. Otherwise isRepeat is false, and the key is claimed for this ping.
func (p *pingWorkspace) answerRepeatedPingOrClaimKey() (answer SupplierPingAnswer, isRepeat bool, err error) {
	e := p.engine
	var use event.RequestIdempotencyKey
	use.Key, use.Fingerprint, p.scratch = e.hashIdempotencyKey(p.scratch, p.endpoint, p.req.Supplier.Ref, p.req.Key, p.req.Body, p.test)
	first, err := p.claimKeyOrFindEarlierUse(&p.reserved, &use)
	if err != nil {
		return answer, false, err
	}
	if first.IsUsed() {
		answer, err = e.answerOfRecordedPing(first.Seq, p.answerDueNanos())
		return answer, true, err
	}
	use.ExpiresAt = p.now + int64(e.opt.PingIdempotency)
	p.record.Idempotency = use
	return answer, false, nil
}

// assignIDAndClaimAuctionName gives the auction its id and the name under which a later sale finds
// it. The name of a seller's ping is made from the auction id that the seller chose. While the
// state has an auction with that id, a second ping with it gets the Refusal AuctionExists. If
// another ping with that id is in progress, assignIDAndClaimAuctionName waits for its result.
func (p *pingWorkspace) assignIDAndClaimAuctionName() error {
	e := p.engine
	p.record.Auction = market.AuctionID(e.newULID(p.now, &p.random))
	if p.endpoint == endpointAvailability {
		p.record.Name = e.computeAuctionName(pastauction.ByPingID.ForTest(p.test), p.req.Supplier, p.record.Auction[:])
		return nil
	}
	p.record.Name = e.computeAuctionName(pastauction.BySellerID.ForTest(p.test), p.req.Supplier, p.sellerAuction)
	for {
		found, wait := e.state.ClaimNewAuctionName(&p.reserved, p.record.Name, p.now)
		switch {
		case found:
			return &Refusal{Code: AuctionExists}
		case wait == nil:
			return nil
		}
		if err := p.waitOrUnavailable(wait); err != nil {
			return err
		}
	}
}

// answerOfRecordedPing returns the first answer to a ping, for a repeat. It reads the auction's
// event at logPosition. deadlineNanos limits the wait for the log read, in Unix nanoseconds.
func (e *Engine) answerOfRecordedPing(logPosition uint64, deadlineNanos int64) (SupplierPingAnswer, error) {
	record, err := e.log.readRequiredRecord(logPosition, deadlineNanos)
	if err != nil {
		return SupplierPingAnswer{}, err
	}
	held, ok := record.(*event.PingAuctionCompleted)
	if !ok {
		panic(fmt.Sprintf("BUG: log record %d is not the auction of an idempotency key", logPosition))
	}
	answer := e.newSupplierPingAnswer(held)
	answer.Replayed = true
	return answer, nil
}

// newSupplierPingAnswer builds the answer to a ping from the auction's event. The first answer and its
// repeats are therefore equal.
func (e *Engine) newSupplierPingAnswer(completedAuction *event.PingAuctionCompleted) SupplierPingAnswer {
	answer := SupplierPingAnswer{
		Auction: completedAuction.Auction, Request: completedAuction.Request, Reason: completedAuction.Reason, SellerAuction: completedAuction.SellerAuction,
		Token: completedAuction.Token, Bid: !completedAuction.Token.IsZero(),
		Campaign: e.state.NameOf(event.ObjectCampaign, completedAuction.Campaign), ExpiresAt: completedAuction.Began + maxBidValidity,
	}
	for i := range completedAuction.Bids {
		bid := &completedAuction.Bids[i]
		switch {
		case bid.Token == "":
		case answer.Bid && bid.Outcome == market.OutcomeWon:
			answer.Amount, answer.Currency, answer.ValidUntil, answer.Passed = bid.Payout, bid.Currency, bid.ValidUntil, completedAuction.FiltersPassed
		case !answer.Bid:
			answer.Offers = append(answer.Offers, AvailabilityPingOffer{
				Buyer: e.state.NameOf(event.ObjectBuyer, bid.Buyer), Amount: bid.Payout, Currency: bid.Currency, ValidUntil: bid.ValidUntil,
			})
		}
	}
	return answer
}
