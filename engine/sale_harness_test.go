package engine_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
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
	a, err := x.ping(r)
	if err != nil {
		x.t.Fatal(err)
	}
	t := told{id: a.SellerAuction, ours: a.Auction, token: string(a.Token.AppendTo(nil))}
	if a.Token.IsZero() {
		t.token = "none"
	}
	return t
}

// offered asks who is there to buy.
func (x *exchange) offered(r request) told {
	x.t.Helper()
	a, err := x.available(r)
	if err != nil {
		x.t.Fatal(err)
	}
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
func (x *exchange) sell(p posting) (engine.SaleAnswer, error) {
	return x.engine.Post(x.postRequest(p))
}

func (x *exchange) postRequest(p posting) *engine.PostRequest {
	var id market.RequestID
	binary.BigEndian.PutUint64(id[8:], x.drawn.Add(1))
	id[0] = 2
	req := &engine.PostRequest{
		Supplier: x.engine.Catalog().Suppliers[market.SupplierID(p.supplier)],
		Lead:     p.lead.members, Faults: p.faults,
		Body: fmt.Append(nil, p.auction, p.token, p.own, string(p.lead.body)), Key: []byte(p.key), BadKey: p.badKey,
		Test: p.test, BadTest: p.badTest,
		Request: id, Received: time.Now().UnixNano(),
	}
	for _, m := range []struct {
		name, value string
		to          *market.Member
	}{{"auction_id", p.auction, &req.Auction}, {"bid_token", p.token, &req.Token}, {"lead_uuid", p.own, &req.LeadUUID}} {
		if m.value != "-" {
			*m.to = member(m.name, m.value)
		}
	}
	return req
}

// saidSale is an answer in a few words.
func saidSale(a engine.SaleAnswer, err error) string {
	var refusal *engine.Refusal
	if errors.As(err, &refusal) && refusal.Reason != market.ReasonNone {
		return string(refusal.Code) + " " + refusal.Reason.String()
	}
	if err != nil {
		return said(engine.Answer{}, err)
	}
	return a.Buyer + " " + a.BuyerLead + " " + a.Payout.String()
}

// posted posts and says what came of it.
func (x *exchange) posted(p posting) string { return saidSale(x.sell(p)) }

// sale is a post that is under way.
type sale struct {
	answer engine.SaleAnswer
	err    error
	took   time.Duration
	done   chan struct{}
}

// goSell posts on a goroutine of its own.
func (x *exchange) goSell(p posting) *sale {
	s := &sale{done: make(chan struct{})}
	start := time.Now()
	e, req := x.engine, x.postRequest(p) // of this process, whatever comes next
	go func() {
		defer close(s.done)
		s.answer, s.err = e.Post(req)
		s.took = time.Since(start)
	}()
	return s
}

func (s *sale) wait() string {
	<-s.done
	return saidSale(s.answer, s.err)
}

// wire is an answer as bytes, but for what says that it is a repetition.
func (s *sale) wire() string {
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
	return rig{
		suppliers: []string{"other"},
		buyers:    []buyer{{id: "blue", posts: true, pings: true, funds: "100"}, {id: "gold", posts: true, pings: true, funds: "100"}},
		campaigns: []campaign{{
			method: market.PingPost, payout: "0.8", duplicates: anyOf,
			seats: []seat{{buyer: "blue"}, {buyer: "gold"}},
		}},
	}
}

// opened begins an exchange among bidders whose log is held, when all is over, to
// what is always true of promises: a lead is sold by a bid of its auction to the
// one who made it, at its price, before its window ended, and to nobody after.
func opened(t testing.TB, r rig, tune ...func(*engine.Options)) *exchange {
	t.Helper()
	var x *exchange
	t.Cleanup(func() { keptPromises(t, x.log.durable()) })
	x = begin(t, r, tune...)
	x.world.offers("gold", bids("6"))
	return x
}

func keptPromises(t testing.TB, entries []entry) {
	t.Helper()
	held := map[[16]byte]*event.AuctionHeld{}
	for i, e := range entries {
		fact, err := new(event.Decoder).Decode(e.data)
		if err != nil {
			t.Fatal(err)
		}
		switch fact := fact.(type) {
		case *event.AuctionHeld:
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

func asPromised(t testing.TB, auction *event.AuctionHeld, lead *event.LeadDecided) {
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
