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

// PingRequest is a ping as it arrived: a seller's ping, or an availability ping. The engine
// reads its memory until the call returns.
type PingRequest struct {
	Supplier *market.Supplier    // the owner of the credential
	Members  []market.Member     // of the body
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

// PingAnswer is the answer to a ping. Money is the supplier's payout. Times are in Unix
// nanoseconds.
type PingAnswer struct {
	Auction  market.AuctionID
	Request  market.RequestID // of the first call with this key
	Reason   market.Reason    // why there is no bid; ReasonNone if there is one
	Replayed bool

	// Of a seller's ping.
	SellerAuction string // the seller's own auction id
	Bid           bool
	Token         market.BidToken
	Amount        market.Money
	Currency      market.Currency
	ValidUntil    int64
	Passed        market.FiltersPassed

	// Of an availability ping.
	Campaign  string
	ExpiresAt int64
	Offers    []PingOffer // best first
}

// PingOffer is one buyer's bid as the supplier sees it.
type PingOffer struct {
	Buyer      string
	Amount     market.Money
	Currency   market.Currency
	ValidUntil int64
}

// ping is the workspace of one ping. A pool keeps it. It belongs to one goroutine.
type ping struct {
	requestCall
	req      *PingRequest
	endpoint byte
	plan     *compiledCatalog
	test     bool          // the auction is for a test lead
	live     *liveCampaign // nil: no campaign matches

	sellerAuction []byte // the seller's own auction id
	expires       int64  // Unix nanoseconds: when the caller stops to wait

	lead       market.Lead
	faults     []market.FieldError
	candidates selection.Candidates
	auction    auction.Auction
	reserved   state.Reservation
	record     event.AuctionHeld
	pending    pendingCommit // of record and reserved
	scratch    []byte        // memory for hashing
	random     [10]byte      // memory for newTimeOrderedID
}

// bidWindow is the longest time for which a bid is valid after the start of its auction.
const bidWindow = int64(5 * time.Second)

// maxHops is the number of exchanges that may forward a ping.
const maxHops = 3

// Ping holds an auction for a seller's ping: POST /v1/ping. It returns when the result, a bid
// or no bid, is durable. Errors are a *Refusal, ErrUnavailable, or the log's failure; after
// an error nothing is logged.
func (e *Engine) Ping(req *PingRequest) (PingAnswer, error) { return e.holdAuction(req, endpointPing) }

// Availability holds the same auction and returns all valid bids: POST /api/v1/ping.
func (e *Engine) Availability(req *PingRequest) (PingAnswer, error) {
	return e.holdAuction(req, endpointAvailability)
}

func (e *Engine) holdAuction(req *PingRequest, endpoint byte) (PingAnswer, error) {
	if err := e.checkAdmission(); err != nil {
		return PingAnswer{}, err
	}
	plan := e.plan.Load()
	if plan == nil {
		return PingAnswer{}, ErrUnavailable
	}
	p, _ := e.pings.Get().(*ping)
	returned := false
	defer func() {
		if !returned {
			e.state.ReleaseAll(&p.reserved) // after a panic the process continues
		}
	}()
	p.resetForRequest(e, req, plan, endpoint)
	answer, err := p.runPing()
	p.cleanUp()
	returned = true
	e.pings.Put(p)
	return answer, err
}

func (p *ping) resetForRequest(e *Engine, req *PingRequest, plan *compiledCatalog, endpoint byte) {
	p.requestCall = requestCall{engine: e, now: req.Received, received: req.Received, timings: req.Timings}
	p.req, p.plan, p.live, p.endpoint = req, plan, nil, endpoint
	p.test = req.Test || req.Supplier.Test
	p.sellerAuction = nil
	p.expires = req.Received + bidWindow
	p.faults = p.faults[:0]
	p.record.ResetKeepingCapacity()
	p.candidates.ClearOutcomes()
	p.auction.ResetKeepingCapacity()
}

func (p *ping) cleanUp() {
	p.timings.TraceOrNil().SetPingOutcomes(&p.auction)
	p.engine.state.ReleaseAll(&p.reserved)
	clear(p.record.Fields)
	clear(p.record.Bids)
	p.auction.ResetKeepingCapacity()
	p.req, p.plan, p.live, p.timings = nil, nil, nil, nil
}

func (p *ping) runPing() (PingAnswer, error) {
	if len(p.req.Key) > 0 && !p.req.BadKey {
		if answer, found, err := p.answerRepeatedPing(); found || err != nil {
			return answer, err
		}
	}
	check := p.validateSellerPing
	if p.endpoint == endpointAvailability {
		check = p.validateAvailabilityPing
	}
	if err := check(); err != nil {
		return PingAnswer{}, err
	}
	if err := p.claimAuctionName(); err != nil {
		return PingAnswer{}, err
	}
	if err := p.pingBuyers(); err != nil {
		return PingAnswer{}, err
	}
	p.completeAuctionRecord()
	if err := p.commitAuction(); err != nil {
		return PingAnswer{}, err
	}
	p.engine.recent.Add(&p.record, p.pending.encoded, p.engine.opt.Clock.Now())
	return p.engine.auctionAnswer(&p.record), nil
}

// commitAuction makes the event durable and applies it. After an error the reservations still
// belong to the ping, or are released.
func (p *ping) commitAuction() error {
	clock := p.engine.opt.Clock
	began := clock.Now()
	if err := p.pending.encodeAndQueue(&p.record, &p.reserved); err != nil {
		return err
	}
	err := p.pending.waitUntilApplied()
	p.timings.AddCommitTime(began, clock.Now())
	return err
}

// answerRepeatedPing returns the answer of the key's first ping, if the key has one. It
// claims a new key for this ping.
func (p *ping) answerRepeatedPing() (answer PingAnswer, found bool, err error) {
	e := p.engine
	var use event.IdempotencyUse
	use.Key, use.Fingerprint, p.scratch = e.hashIdempotencyKey(p.scratch, p.endpoint, p.req.Supplier.Ref, p.req.Key, p.req.Body, p.test)
	first, err := p.claimOrWaitForKey(&p.reserved, &use)
	if err != nil {
		return answer, false, err
	}
	if first.IsUsed() {
		answer, err = e.answerOfRecordedPing(first.Seq, p.deadline())
		return answer, true, err
	}
	use.ExpiresAt = p.now + int64(e.opt.PingIdempotency)
	p.record.Idempotency = use
	return answer, false, nil
}

// claimAuctionName gives the auction its name. A seller's own id names only one auction. If
// another ping uses the id at the same time, claimAuctionName waits until that ping ends,
// and refuses this one with AuctionExists if there was an auction.
func (p *ping) claimAuctionName() error {
	e := p.engine
	p.record.Auction = market.AuctionID(e.newTimeOrderedID(p.now, &p.random))
	if p.endpoint == endpointAvailability {
		p.record.Name = e.auctionName(pastauction.ByPingID.ForTest(p.test), p.req.Supplier, p.record.Auction[:])
		return nil
	}
	p.record.Name = e.auctionName(pastauction.BySellerID.ForTest(p.test), p.req.Supplier, p.sellerAuction)
	for {
		found, wait := e.state.ClaimAuctionName(&p.reserved, p.record.Name, p.now)
		switch {
		case found:
			return &Refusal{Code: AuctionExists}
		case wait == nil:
			return nil
		}
		if err := p.waitForResult(wait); err != nil {
			return err
		}
	}
}

// answerOfRecordedPing returns the first answer of a ping, from its recorded auction.
func (e *Engine) answerOfRecordedPing(seq uint64, until int64) (PingAnswer, error) {
	record, err := e.log.readRecord(seq, until)
	if err != nil {
		return PingAnswer{}, err
	}
	held, ok := record.(*event.AuctionHeld)
	if !ok {
		panic(fmt.Sprintf("BUG: log record %d is not the auction of an idempotency key", seq))
	}
	answer := e.auctionAnswer(held)
	answer.Replayed = true
	return answer, nil
}

// auctionAnswer returns the answer to a ping, the first time and for repeats.
func (e *Engine) auctionAnswer(held *event.AuctionHeld) PingAnswer {
	answer := PingAnswer{
		Auction: held.Auction, Request: held.Request, Reason: held.Reason, SellerAuction: held.SellerAuction,
		Token: held.Token, Bid: !held.Token.IsZero(),
		Campaign: e.state.NameOf(event.ObjectCampaign, held.Campaign), ExpiresAt: held.Began + bidWindow,
	}
	for i := range held.Bids {
		bid := &held.Bids[i]
		switch {
		case bid.Token == "":
		case answer.Bid && bid.Outcome == market.OutcomeWon:
			answer.Amount, answer.Currency, answer.ValidUntil, answer.Passed = bid.Payout, bid.Currency, bid.ValidUntil, held.FiltersPassed
		case !answer.Bid:
			answer.Offers = append(answer.Offers, PingOffer{
				Buyer: e.state.NameOf(event.ObjectBuyer, bid.Buyer), Amount: bid.Payout, Currency: bid.Currency, ValidUntil: bid.ValidUntil,
			})
		}
	}
	return answer
}
