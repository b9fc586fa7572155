package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// offer is how a buyer meets a ping.
type offer struct {
	after  time.Duration // never: hangs until the ping is given up
	result market.PingResult
	deaf   bool // answers when it does, whatever the deadline was
	panics bool
}

// bids offers so much.
func bids(amount string) offer {
	m, err := market.ParseMoney([]byte(amount))
	if err != nil {
		panic(err)
	}
	return offer{result: market.PingResult{Status: 200, Bid: market.Bid{Amount: m, Token: "tok"}}}
}

var (
	passes    = offer{result: market.PingResult{Outcome: market.OutcomeNoBid, Status: 200, Reason: "not_today"}}
	garbles   = offer{result: market.PingResult{Outcome: market.OutcomeInvalid, Status: 200, Fault: market.FaultMalformed}}
	fails     = offer{result: market.PingResult{Outcome: market.OutcomeError, Status: 500}}
	throttles = offer{result: market.PingResult{Outcome: market.OutcomeRateLimited, Status: 429}}
	sleeps    = offer{after: never}
	blowsUp   = offer{panics: true}
)

// in is the same offer, after a while.
func (o offer) in(d time.Duration) offer { o.after = d; return o }

// late is the same offer after a while, on a connection that knows no deadline.
func (o offer) late(d time.Duration) offer { o.after, o.deaf = d, true; return o }

// of is the same bid in another currency.
func (o offer) of(currency string) offer { copy(o.result.Bid.Currency[:], currency); return o }

// until is the same bid, good until so long after the exchange began.
func (o offer) until(d time.Duration) offer {
	o.result.Bid.ValidUntil = began.Add(d).UnixNano()
	return o
}

// pinged is one ping as the buyer sees it.
type pinged struct {
	life    int
	at      time.Duration
	buyer   string
	auction string
	body    []byte
	hops    int
	expires time.Time
	answer  offer
	token   string // of the bid that it is answered with
}

// pingEndpointOf is where a buyer takes pings.
func pingEndpointOf(buyer string) *market.Endpoint {
	to := endpointOf(buyer)
	to.URL = "https://" + buyer + ".example/v1/ping"
	return to
}

// offers sets what a buyer answers to pings, one after the other; the last one
// repeats.
func (w *world) offers(buyer string, all ...offer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bidding == nil {
		w.bidding = map[string][]offer{}
	}
	w.bidding[buyer] = all
	w.asked[buyer] = 0
}

var pingInBody = regexp.MustCompile(`^\{"auction_id":"(auc_[0-9a-z]{26})","vertical":"[^"]+",.*"expires_at":"([0-9T:.-]+Z)"\}$`)

// enterPing notes a ping and says how it is met. A buyer that nobody has told
// anything offers 10.
func (w *world) enterPing(life int, req *market.PingRequest) *pinged {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.underway.Add(1)
	p := &pinged{life: life, at: time.Since(began), body: bytes.Clone(req.Body), hops: req.Hops, answer: bids("10")}
	p.buyer = strings.TrimSuffix(strings.TrimPrefix(req.Endpoint.URL, "https://"), ".example/v1/ping")
	if !reflect.DeepEqual(&req.Endpoint, pingEndpointOf(p.buyer)) {
		w.t.Errorf("a ping to an endpoint that nobody has: %+v", req.Endpoint)
	}
	expectEqual(w.t, req.Test, isTest(p.buyer), p.buyer, " is pinged as a test")
	said := pingInBody.FindSubmatch(req.Body)
	if len(said) == 0 || !bytes.Equal(said[1], req.Auction) || req.IdempotencyKey != string(req.Auction) || req.RequestID.IsZero() || req.Hops < 1 {
		w.t.Errorf("a ping that is none: %+v %s", req, req.Body)
		return p
	}
	p.auction = string(said[1])
	p.expires = must.Value(time.Parse(time.RFC3339Nano, string(said[2])))(w.t)
	if ahead := req.Deadline.Sub(p.expires); ahead < 0 || ahead >= time.Millisecond {
		w.t.Errorf("%s is told %s and has until %s", p.buyer, p.expires, req.Deadline)
	}
	for _, person := range []string{"+1415", "example.com\"", "first_name", "Pat"} {
		if bytes.Contains(req.Body, []byte(person)) {
			w.t.Errorf("a ping that carries a person: %s", req.Body)
		}
	}
	for _, before := range w.pings {
		if before.auction == p.auction && before.buyer == p.buyer {
			w.t.Errorf("%s is asked twice in %s", p.buyer, p.auction)
		}
		if before.auction == p.auction && !bytes.Equal(before.body, p.body) {
			w.t.Errorf("two bodies in %s:\n%s\n%s", p.auction, before.body, p.body)
		}
	}
	if all := w.bidding[p.buyer]; len(all) > 0 {
		p.answer = all[min(w.asked[p.buyer], len(all)-1)]
	}
	w.asked[p.buyer]++
	if p.answer.result.Bid.Token != "" {
		p.token = "tok-" + p.buyer + "-" + p.auction[len(p.auction)-6:]
	}
	w.pings = append(w.pings, p)
	return p
}

// Ping is a buyer's answer, which comes by the deadline unless it is deaf.
func (l *life) Ping(req *market.PingRequest) market.PingResult {
	l.mu.Lock()
	dead := l.dead
	l.mu.Unlock()
	if dead {
		return market.PingResult{Outcome: market.OutcomeError}
	}
	p := l.enterPing(l.number, req)
	defer l.underway.Done()
	wait := p.answer.after
	left := time.Until(req.Deadline)
	if !p.answer.deaf {
		wait = min(wait, left)
	}
	if wait > 0 {
		time.Sleep(wait)
	}
	if !bytes.Equal(req.Body, p.body) {
		l.t.Errorf("the body of a ping to %s changed while it was under way", p.buyer)
	}
	if p.answer.panics {
		panic("a bug, for the test's sake")
	}
	if !p.answer.deaf && p.answer.after > left {
		return market.PingResult{Outcome: market.OutcomeTimeout, Fault: market.FaultTimeout, Elapsed: wait}
	}
	result := p.answer.result
	result.Bid.Token, result.Elapsed = p.token, wait
	return result
}

// tokenOf is what the buyer gave the exchange in an auction.
func (w *world) tokenOf(buyer, auction string) string {
	for _, p := range w.pings {
		if p.buyer == buyer && p.auction == auction {
			return p.token
		}
	}
	return ""
}

// rang lists the pings so far as "buyer@time".
func (w *world) rang() (list []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.pings {
		list = append(list, p.buyer+"@"+p.at.String())
	}
	return list
}

// inquiry is a seller's ping number n, under a key of its own, with what the
// pairs change: see person.
func inquiry(n int, pairs ...string) request {
	values := map[string]string{"auction_id": fmt.Sprint("a", n), "vertical": "auto_insurance", "state": "CA", "tcpa_consent": "#true"}
	return requestWith(values, pairs).withKey(fmt.Sprint("p", n))
}

// availability is a supplier's question who is there to buy.
func availability(pairs ...string) request {
	return requestWith(map[string]string{"flo_campaign_id": "auto", "flo_supplier_id": "acme", "state": "CA"}, pairs)
}

func (x *exchange) pingRequest(r request) *engine.SupplierPingRequest {
	return &engine.SupplierPingRequest{
		Supplier: x.engine.ActiveCatalog().Suppliers[market.SupplierID(r.supplier)],
		Members:  r.members, Body: r.body, Key: []byte(r.key), BadKey: r.badKey, Test: r.test, BadTest: r.badTest,
		Request: x.newRequestID(), Received: time.Now().UnixNano(), Hops: r.hops,
	}
}

// ping holds an auction over a seller's ping that has just arrived.
func (x *exchange) ping(r request) (engine.PingAnswer, error) {
	return x.engine.PingForBestBid(x.pingRequest(r))
}

// available asks who is there to buy.
func (x *exchange) available(r request) (engine.PingAnswer, error) {
	return x.engine.PingForAllBids(x.pingRequest(r))
}

// heard is an answer to a ping in a word: what is bid, or offered by whom, or why
// nothing, or an error's code with the failing fields.
func heard(a engine.PingAnswer, err error) string {
	switch {
	case err != nil:
		return said(engine.IngestAnswer{}, err)
	case a.Bid:
		return a.Amount.String()
	case len(a.Offers) > 0:
		var all []string
		for _, o := range a.Offers {
			all = append(all, o.Buyer+":"+o.Amount.String())
		}
		return strings.Join(all, " ")
	}
	return a.Reason.String()
}

func (x *exchange) goPing(r request) *pinging {
	return startCall(func() (engine.PingAnswer, error) { return x.ping(r) }, heard)
}

// auctions is a market of one campaign that holds auctions, among so many
// buyers with endpoints for pings and posts.
func auctions(names ...string) rig {
	var buyers []buyer
	for _, name := range names {
		buyers = append(buyers, buyer{id: name, posts: true, pings: true})
	}
	return selling(market.PingPost, buyers...)
}

// At is the log as history.
func (l *life) At(seq uint64) ([]byte, error) {
	entries := l.log.durable()
	if seq == 0 || seq > uint64(len(entries)) {
		return nil, errors.New("no such entry")
	}
	return bytes.Clone(entries[seq-1].data), nil
}

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
