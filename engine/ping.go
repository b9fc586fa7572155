package engine

import (
	"fmt"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/selection"
	"pingpost/engine/state"
)

// PingRequest is a ping as it arrived: a seller's, or a supplier's question who
// is there to buy. What it refers to must stay as it is until the call returns.
type PingRequest struct {
	Supplier *market.Supplier    // whose credential came with it
	Members  []market.Member     // of the body
	Body     []byte              // its very bytes, for the idempotency key's sake
	Key      []byte              // Idempotency-Key; empty: none
	BadKey   bool                // one came that is none
	Test     bool                // it says that it is a test
	BadTest  bool                // what it says of that is neither yes nor no
	Faults   []market.FieldError // in the request beside its body; reported with the body's
	Request  market.RequestID
	Received int64  // Unix nanoseconds
	Hops     int    // how many exchanges it has been through
	Spent    *Spent // is added to until the call returns; nil: nobody asks
}

// PingAnswer is what a ping is answered with. Money is what the supplier would
// be paid, times are in Unix nanoseconds.
type PingAnswer struct {
	Auction  market.AuctionID
	Request  market.RequestID // of the call that was answered first
	Reason   market.Reason    // why there is no bid; ReasonNone where there is one
	Replayed bool

	// Of a seller's ping.
	Theirs     string // its own auction id
	Bid        bool
	Token      market.BidToken
	Amount     market.Money
	Currency   market.Currency
	ValidUntil int64
	Passed     market.FiltersPassed

	// Of an availability ping.
	Campaign  string
	ExpiresAt int64
	Offers    []PingOffer // best first
}

// PingOffer is one buyer's bid as the supplier is told it.
type PingOffer struct {
	Buyer      string
	Amount     market.Money
	Currency   market.Currency
	ValidUntil int64
}

// ping is the workspace of one call, kept in a pool. It belongs to one
// goroutine.
type ping struct {
	engine   *Engine
	req      *PingRequest
	endpoint byte
	plan     *plan
	test     bool  // it is over a test lead
	open     *open // nil: there is no campaign for it
	now      int64

	theirs  []byte // the seller's auction id
	expires int64  // when the caller no longer listens

	lead       market.Lead
	faults     []market.FieldError
	candidates selection.Candidates
	auction    auction
	hold       state.Reservation
	fact       event.AuctionHeld
	way        pending // of the fact and the hold, through the log
	room       []byte
}

// bidWindow is how long a bid can be taken up after the start of its auction,
// whatever the buyer says.
const bidWindow = int64(5 * time.Second)

// maxHops is how many exchanges a ping may have been through.
const maxHops = 3

// Ping holds an auction over what a seller tells of a lead: POST /v1/ping. It
// returns once the outcome is durable, and a no-bid is one. Errors are a
// *Refusal, ErrUnavailable, or the log's failure; none of them leaves a fact.
func (e *Engine) Ping(req *PingRequest) (PingAnswer, error) { return e.auctioned(req, endpointPing) }

// Availability holds the same auction and tells every bid that stands: POST
// /api/v1/ping.
func (e *Engine) Availability(req *PingRequest) (PingAnswer, error) {
	return e.auctioned(req, endpointAvailability)
}

func (e *Engine) auctioned(req *PingRequest, endpoint byte) (PingAnswer, error) {
	if err := e.admit(); err != nil {
		return PingAnswer{}, err
	}
	plan := e.plan.Load()
	if plan == nil {
		return PingAnswer{}, ErrUnavailable
	}
	p, _ := e.pings.Get().(*ping)
	over := false
	defer func() {
		if !over {
			e.state.Release(&p.hold) // it has panicked, and the process goes on
		}
	}()
	p.begin(e, req, plan, endpoint)
	answer, err := p.run()
	p.end()
	over = true
	e.pings.Put(p)
	return answer, err
}

func (p *ping) begin(e *Engine, req *PingRequest, plan *plan, endpoint byte) {
	p.engine, p.req, p.plan, p.open, p.endpoint, p.now = e, req, plan, nil, endpoint, req.Received
	p.test = req.Test || req.Supplier.Test
	p.theirs = nil
	p.expires = req.Received + bidWindow
	p.faults = p.faults[:0]
	p.fact.Reset()
	p.candidates.ClearOutcomes()
	p.auction.reset()
}

func (p *ping) end() {
	p.auction.outcomes()
	p.engine.state.Release(&p.hold)
	clear(p.fact.Fields)
	clear(p.fact.Bids)
	p.auction.reset()
	p.req, p.plan, p.open = nil, nil, nil
}

func (p *ping) run() (PingAnswer, error) {
	if len(p.req.Key) > 0 && !p.req.BadKey {
		if answer, found, err := p.claimKey(); found || err != nil {
			return answer, err
		}
	}
	check := p.checkSellers
	if p.endpoint == endpointAvailability {
		check = p.checkAvailability
	}
	if err := check(); err != nil {
		return PingAnswer{}, err
	}
	if err := p.claimName(); err != nil {
		return PingAnswer{}, err
	}
	if err := p.hearBuyers(); err != nil {
		return PingAnswer{}, err
	}
	p.describe()
	if err := p.commit(); err != nil {
		return PingAnswer{}, err
	}
	p.engine.remember(&p.fact, p.way.buf)
	return p.engine.answerOfAuction(&p.fact), nil
}

// commit makes the fact durable and applies it, and returns when both are done.
// After an error the hold is the ping's still, or released.
func (p *ping) commit() error {
	clock := p.engine.opt.Clock
	began := clock.Now()
	p.way.encode(&p.fact, &p.hold)
	if err := p.way.send(); err != nil {
		return err
	}
	err := <-p.way.done
	p.req.Spent.addLog(clock, began)
	return err
}

// claimKey looks the idempotency key up. Where it was used it returns the first
// answer, waiting for one that is under way; where it is new it is claimed.
func (p *ping) claimKey() (answer PingAnswer, found bool, err error) {
	e := p.engine
	var use event.Idempotency
	use.Key, use.Print, p.room = e.hashKey(p.room, p.endpoint, p.req.Supplier.Ref, p.req.Key, p.req.Body, p.test)
	for {
		keyed := e.state.ClaimKey(&p.hold, use.Key, use.Print, p.now)
		switch {
		case keyed.Wait != nil:
			if err := p.wait(keyed.Wait); err != nil {
				return answer, false, err
			}
		case !keyed.IsUsed():
			use.Until = p.now + int64(e.opt.PingIdempotency)
			p.fact.Idempotency = use
			return answer, false, nil
		case !keyed.SameBody:
			return answer, true, &Refusal{Code: KeyReused}
		default:
			answer, err = e.repeatAuction(keyed.Seq, p.ceiling())
			return answer, true, err
		}
	}
}

// wait waits for another request, and sets the time anew. The error is
// ErrUnavailable: whatever this one was to learn is not known in time.
func (p *ping) wait(ended <-chan struct{}) error {
	if p.engine.await(ended, p.ceiling()) != nil {
		return ErrUnavailable
	}
	p.now = max(p.now, p.engine.opt.Clock.Now())
	return nil
}

// ceiling is when the answer is due.
func (p *ping) ceiling() int64 { return p.req.Received + int64(p.engine.opt.Ceiling) }

// claimName gives the auction its name. A seller's own id names one auction and
// no other; of two pings with one id the second waits for the first one's fact.
func (p *ping) claimName() error {
	e := p.engine
	p.fact.Auction = market.AuctionID(e.newID(p.now, &p.auction.random))
	if p.endpoint == endpointAvailability {
		p.fact.Name = e.auctionName(byPingID.in(p.test), p.req.Supplier, p.fact.Auction[:])
		return nil
	}
	p.fact.Name = e.auctionName(bySellersID.in(p.test), p.req.Supplier, p.theirs)
	for {
		found, wait := e.state.ClaimAuctionName(&p.hold, p.fact.Name, p.now)
		switch {
		case found:
			return &Refusal{Code: AuctionExists}
		case wait == nil:
			return nil
		}
		if err := p.wait(wait); err != nil {
			return err
		}
	}
}

// repeatAuction is the answer that an auction was given, from its fact alone.
func (e *Engine) repeatAuction(seq uint64, until int64) (PingAnswer, error) {
	fact, err := e.log.read(seq, until)
	if err != nil {
		return PingAnswer{}, err
	}
	held, ok := fact.(*event.AuctionHeld)
	if !ok {
		panic(fmt.Sprintf("BUG: fact %d is not the auction that answered a key", seq))
	}
	answer := e.answerOfAuction(held)
	answer.Replayed = true
	return answer, nil
}

// answerOfAuction is what the caller is told, at first and ever after.
func (e *Engine) answerOfAuction(fact *event.AuctionHeld) PingAnswer {
	answer := PingAnswer{
		Auction: fact.Auction, Request: fact.Request, Reason: fact.Reason, Theirs: fact.SellerAuction,
		Token: fact.Token, Bid: !fact.Token.IsZero(),
		Campaign: e.state.NameOf(event.NameCampaign, fact.Campaign), ExpiresAt: fact.Began + bidWindow,
	}
	for i := range fact.Bids {
		bid := &fact.Bids[i]
		switch {
		case bid.Token == "":
		case answer.Bid && bid.Outcome == market.OutcomeWon:
			answer.Amount, answer.Currency, answer.ValidUntil, answer.Passed = bid.Payout, bid.Currency, bid.ValidUntil, fact.FiltersPassed
		case !answer.Bid:
			answer.Offers = append(answer.Offers, PingOffer{
				Buyer: e.state.NameOf(event.NameBuyer, bid.Buyer), Amount: bid.Payout, Currency: bid.Currency, ValidUntil: bid.ValidUntil,
			})
		}
	}
	return answer
}
