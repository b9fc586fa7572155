package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// told is what a supplier knows of an auction.
type told struct {
	id    string // its own, or our ping id
	ours  market.AuctionID
	token string
}

// quoted holds an auction over a seller's ping; there is a bid, or is none.
func (x *exchange) quoted(r request) told {
	x.t.Helper()
	a := must.Value(x.ping(r))(x.t)
	t := told{id: a.SellerAuction, ours: a.Auction, token: string(a.Token.AppendTo(nil))}
	if a.Token.IsZero() {
		t.token = "none"
	}
	return t
}

// offered asks who is there to buy.
func (x *exchange) offered(r request) told {
	x.t.Helper()
	a := must.Value(x.available(r))(x.t)
	return told{id: market.PingID(a.Auction).String(), ours: a.Auction}
}

// posting is a post to be sent.
type posting struct {
	supplier            string
	auction, token, own string // "-": not there
	lead                request
	faults              []market.FieldError
	key                 string
	badKey              bool
	test, badTest       bool
}

// postOf is person n for the bid of an auction, under a key of its own.
func postOf(n int, a told, pairs ...string) posting {
	pairs = append([]string{"flo_campaign_id", "-", "flo_supplier_id", "-", "state", "-"}, pairs...)
	return posting{
		supplier: "acme", auction: a.id, token: a.token, own: fmt.Sprint("theirs-", n),
		lead: person(n, pairs...), key: fmt.Sprint("post-", n),
	}
}

// withKey is the same post under another key.
func (p posting) withKey(key string) posting { p.key = key; return p }

// asTest is the same post as a test.
func (p posting) asTest() posting { p.test = true; return p }

// sell posts a request that has just arrived.
func (x *exchange) sell(p posting) (engine.PostSaleAnswer, error) {
	return x.engine.SellAtBid(x.postRequest(p))
}

func (x *exchange) postRequest(p posting) *engine.SupplierPostRequest {
	return &engine.SupplierPostRequest{
		Supplier: x.engine.ActiveCatalog().Suppliers[market.SupplierID(p.supplier)],
		Auction:  member("auction_id", p.auction), Token: member("bid_token", p.token), LeadUUID: member("lead_uuid", p.own),
		Lead: p.lead.members, Faults: p.faults,
		Body: fmt.Append(nil, p.auction, p.token, p.own, string(p.lead.body)), Key: []byte(p.key), BadKey: p.badKey,
		Test: p.test, BadTest: p.badTest,
		Request: x.newRequestID(), Received: time.Now().UnixNano(),
	}
}

// saidSale is an answer in a few words.
func saidSale(a engine.PostSaleAnswer, err error) string {
	var refusal *engine.Refusal
	if errors.As(err, &refusal) && refusal.Reason != market.ReasonNone {
		return string(refusal.Code) + " " + refusal.Reason.String()
	}
	if err != nil {
		return said(engine.IngestAnswer{}, err)
	}
	return a.Buyer + " " + a.BuyerLead + " " + a.Payout.String()
}

// posted posts and says what came of it.
func (x *exchange) posted(p posting) string { return saidSale(x.sell(p)) }

func (x *exchange) goSell(p posting) *sale {
	e, req := x.engine, x.postRequest(p) // of this process, whatever comes next
	return startCall(func() (engine.PostSaleAnswer, error) { return e.SellAtBid(req) }, saidSale)
}

// wire is an answer as bytes, but for what says that it is a repetition.
func wire(s *sale) string {
	<-s.done
	var refusal *engine.Refusal
	if errors.As(s.err, &refusal) {
		again := *refusal
		again.Replayed = false
		return fmt.Sprintf("%+v", again)
	}
	answer := s.answer
	answer.Replayed = false
	return fmt.Sprintf("%+v %v", answer, s.err)
}

// bidders is a market of two buyers: blue bids 10, of which 8 are the supplier's,
// and gold bids 6.
func bidders() rig {
	r := auctions("blue", "gold").changeBuyers(func(b *buyer) { b.funds = "100" })
	r.buyers[1].bid = "6"
	r.suppliers, r.campaigns[0].payout, r.campaigns[0].duplicates = []string{"other"}, "0.8", anyOf
	return r
}

// keptPromises holds a log to what is always true of promises: a lead is sold by a
// bid of its auction to the one who made it, at its price, before its window ended,
// and to nobody after.
func keptPromises(t testing.TB, entries []entry) {
	t.Helper()
	held := map[[16]byte]*event.PingAuctionCompleted{}
	for i, fact := range decodeAll(t, entries) {
		switch fact := fact.(type) {
		case *event.PingAuctionCompleted:
			held[fact.Name] = fact
		case *event.LeadDecided:
			if fact.Sale.Ping != [16]byte{} {
				asPromised(t, held[fact.Sale.Ping], fact)
			}
		case *event.PostSettled:
			if fact.Next.Buyer != 0 && fact.Sale.Ping != [16]byte{} {
				t.Errorf("entry %d: a promised lead went on to another buyer", i+1)
			}
		}
	}
}

func asPromised(t testing.TB, auction *event.PingAuctionCompleted, lead *event.LeadDecided) {
	t.Helper()
	if auction == nil {
		t.Errorf("lead %s is sold by an auction that was never held", lead.Lead)
		return
	}
	for _, bid := range auction.Bids {
		if bid.Buyer != lead.Sale.Buyer {
			continue
		}
		if lead.Sale.Price != bid.Amount || lead.Sale.Payout != bid.Payout || lead.Sale.Currency != bid.Currency || lead.Decided >= bid.ValidUntil {
			t.Errorf("lead %s is sold as %+v at %d, the bid was %+v", lead.Lead, lead.Sale, lead.Decided, bid)
		}
		if lead.Post.URL != "" && lead.Post.Auction != auction.Auction {
			t.Errorf("lead %s is posted under another auction", lead.Lead)
		}
		return
	}
	t.Errorf("lead %s is sold to a buyer who did not bid", lead.Lead)
}
