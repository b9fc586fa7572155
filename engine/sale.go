package engine

import (
	"crypto/subtle"
	"errors"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// PostRequest is a lead that a seller sends for the bid that its ping was
// answered with, laid flat as the lead of an ingest is. What it refers to must
// stay as it is until Post returns.
//
// Whoever takes the body apart gives auction_id, bid_token and lead.lead_uuid by
// themselves (the zero Member where they are not there) and everything else of
// lead in Lead: first its own members without address and tcpa, then address's,
// then tcpa's. Where two of them have one name the later one counts. What is in
// the way of that comes in Faults: lead, lead.address or lead.tcpa that are no
// objects.
type PostRequest struct {
	Supplier *market.Supplier // whose token came with it
	Auction  market.Member    // auction_id
	Token    market.Member    // bid_token
	LeadUUID market.Member    // lead.lead_uuid
	Lead     []market.Member
	Faults   []market.FieldError // by their dotted paths
	Body     []byte              // its very bytes, for the idempotency key's sake
	Key      []byte              // Idempotency-Key; empty: none
	BadKey   bool                // one came that is none
	Test     bool                // it says that it is a test
	BadTest  bool                // what it says of that is neither yes nor no
	Request  market.RequestID
	Received int64  // Unix nanoseconds
	Spent    *Spent // is added to until the call returns; nil: nobody asks
}

// SaleAnswer is what a seller is told of a lead that its buyer has.
type SaleAnswer struct {
	Theirs    string // the seller's own auction id
	BuyerLead string // the buyer's own id of the lead; it may have none
	Lead      market.LeadID
	Request   market.RequestID // of the call that was answered first
	Buyer     string
	Payout    market.Money
	Currency  market.Currency
	Replayed  bool
}

// promise is a bid that a supplier was told and now takes up, by a post or by an
// ingest that names the buyer.
//
// What must always hold: the price and the payout are the promised ones, whatever
// the configuration has become; the lead goes to that buyer or to none; and the
// auction sells one lead. So the auction is claimed first, before the values of
// duplicates, caps and money, in that order everywhere; the fact of the sale
// names it; and whatever gives the sale back gives the auction back.
type promise struct {
	post    *PostRequest // nil: an ingest
	auction *offered     // nil: none is known by the name
	bid     *event.Bid   // nil: none of its bids is meant
	gone    bool         // the auction is past the log's history: its window is over, and all that is known of it is
	soldTo  market.LeadID
	seller  []byte      // the seller's own id of the lead
	earlier market.Lead // what the ping said

	hangs     bool   // when the answer was due a try was under way, or the last one had timed out
	delivered bool   // by this very call
	theirs    string // then, the buyer's own id of the lead
}

// reset forgets the promise and keeps its memory.
func (p *promise) reset() {
	*p = promise{earlier: p.earlier}
}

// Post sells a lead at the bid that a ping was answered with. Success means that
// the buyer has it. Errors are a *Refusal, ErrUnavailable, or the log's failure.
//
// A refusal for want of an answer (buyer_unavailable, buyer_timeout) is not the
// end: the delivery goes on, and the same request under the same key hears what
// has become of it.
func (e *Engine) Post(req *PostRequest) (SaleAnswer, error) {
	if err := e.admit(); err != nil {
		return SaleAnswer{}, err
	}
	p := e.plan.Load()
	if p == nil {
		return SaleAnswer{}, ErrUnavailable
	}
	in, d := e.rooms.Get().(*ingest), e.decisions.Get().(*Decision)
	over := false
	defer func() {
		if !over {
			in.collapse()
		}
	}()
	in.begin(e, &IngestRequest{
		Supplier: req.Supplier, Members: req.Lead, Body: req.Body, Key: req.Key, BadKey: req.BadKey,
		Test: req.Test, BadTest: req.BadTest, Request: req.Request, Received: req.Received, Spent: req.Spent,
	}, p, d)
	in.promise.post = req
	answer, err := in.post()
	in.end()
	over = true
	e.rooms.Put(in)
	e.decisions.Put(d)
	return answer, err
}

// post is Post in its workspace.
func (in *ingest) post() (SaleAnswer, error) {
	if len(in.req.Key) > 0 {
		first, err := in.useKey(endpointPost)
		if err != nil {
			return SaleAnswer{}, err
		}
		if !first.IsZero() {
			return in.repeatPost(first)
		}
	}
	if err := in.findAuction(); err != nil {
		return SaleAnswer{}, err
	}
	if err := in.checkPost(); err != nil {
		return SaleAnswer{}, err
	}
	if in.promise.bid == nil && !in.promise.gone {
		return SaleAnswer{}, &Refusal{Code: InvalidBidToken}
	}
	if err := in.takeKey(); err != nil {
		return SaleAnswer{}, err
	}
	code, reason, err := in.redeem()
	switch {
	case errors.Is(err, errCeiling):
		return SaleAnswer{}, ErrUnavailable // by others' reservations alone, which are no fact to refuse by
	case err != nil:
		return SaleAnswer{}, err
	case code != "":
		return SaleAnswer{}, &Refusal{Code: code}
	case reason != market.ReasonNone:
		in.answer, err = in.unmatched(reason)
	default:
		in.answer, err = in.sellPromised()
	}
	if err == nil {
		began, queued := in.engine.opt.Clock.Now(), in.queued
		err = in.landed()
		if queued {
			in.req.Spent.addLog(in.engine.opt.Clock, began)
		}
	}
	if err != nil {
		return SaleAnswer{}, err
	}
	return in.became(in.id, in.promise.hangs)
}

// findAuction finds the auction that a post names, and its bid where the token
// is that auction's.
func (in *ingest) findAuction() error {
	e, p := in.engine, &in.promise
	if p.post.Auction.Kind != market.JSONString {
		return nil
	}
	row, ok := e.state.Auction(e.auctionName(bySellersID.in(in.test), in.req.Supplier, p.post.Auction.Text), in.now)
	if !ok {
		return nil
	}
	if err := in.recall(&row); err != nil || p.gone {
		return err
	}
	in.open = in.offering()
	token, ok := market.ParseBidToken(string(p.post.Token.Text))
	if ok && p.post.Token.Kind == market.JSONString && subtle.ConstantTimeCompare(token[:], p.auction.token[:]) == 1 {
		p.bid = p.auction.winner()
	}
	return nil
}

// recall recalls the auction whose bid is to be taken up. That may take a while,
// so the decision's time is set anew: a bid can end meanwhile.
func (in *ingest) recall(row *state.AuctionRow) (err error) {
	p := &in.promise
	p.auction, err = in.engine.recall(row, in.ceiling())
	if errors.Is(err, ErrGone) {
		p.gone, p.soldTo, err = true, row.Lead, nil
	}
	in.now = max(in.now, in.engine.opt.Clock.Now())
	return err
}

// offering is the campaign whose auction it was, as it is configured now; nil
// where it is no more.
func (in *ingest) offering() *open {
	id := in.engine.state.NameOf(event.NameCampaign, in.promise.auction.campaign)
	return in.plan.campaign(market.CampaignID(id), in.test)
}
