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

// bidReply is how a buyer meets a ping.
type bidReply struct {
	delay           time.Duration // never: hangs until the ping is given up
	result          market.PingResult
	ignoresDeadline bool // answers when it does, whatever the deadline was
	panics          bool
}

// bids offers so much.
func bids(amount string) bidReply {
	m, err := market.ParseMoney([]byte(amount))
	if err != nil {
		panic(err)
	}
	return bidReply{result: market.PingResult{Status: 200, Bid: market.Bid{Amount: m, Token: "tok"}}}
}

var (
	noBid        = bidReply{result: market.PingResult{Outcome: market.OutcomeNoBid, Status: 200, Reason: "not_today"}}
	invalidBid   = bidReply{result: market.PingResult{Outcome: market.OutcomeInvalid, Status: 200, Fault: market.FaultMalformed}}
	pingError    = bidReply{result: market.PingResult{Outcome: market.OutcomeError, Status: 500}}
	rateLimited  = bidReply{result: market.PingResult{Outcome: market.OutcomeRateLimited, Status: 429}}
	neverBids    = bidReply{delay: never}
	panicsAtPing = bidReply{panics: true}
)

// after is the same offer, after a while.
func (o bidReply) after(d time.Duration) bidReply { o.delay = d; return o }

// ignoringDeadline is the same offer after a while, on a connection that knows no deadline.
func (o bidReply) ignoringDeadline(d time.Duration) bidReply {
	o.delay, o.ignoresDeadline = d, true
	return o
}

// inCurrency is the same bid in another currency.
func (o bidReply) inCurrency(currency string) bidReply {
	copy(o.result.Bid.Currency[:], currency)
	return o
}

// validFor is the same bid, good until so long after the exchange began.
func (o bidReply) validFor(d time.Duration) bidReply {
	o.result.Bid.ValidUntil = virtualStart.Add(d).UnixNano()
	return o
}

// receivedPing is one ping as the buyer sees it.
type receivedPing struct {
	process int
	at      time.Duration
	buyer   string
	auction string
	body    []byte
	hops    int
	expires time.Time
	answer  bidReply
	token   string // of the bid that it is answered with
}

// pingEndpointOf is where a buyer takes pings.
func pingEndpointOf(buyer string) *market.Endpoint {
	to := endpointOf(buyer)
	to.URL = "https://" + buyer + ".example/v1/ping"
	return to
}

// scriptBids sets what a buyer answers to pings, one after the other; the last one
// repeats.
func (w *fakeBuyers) scriptBids(buyer string, all ...bidReply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bidScripts == nil {
		w.bidScripts = map[string][]bidReply{}
	}
	w.bidScripts[buyer] = all
	w.pingCounts[buyer] = 0
}

var pingInBody = regexp.MustCompile(`^\{"auction_id":"(auc_[0-9a-z]{26})","vertical":"[^"]+",.*"expires_at":"([0-9T:.-]+Z)"\}$`)

// recordPing notes a ping and says how it is met. A buyer that nobody has told
// anything offers 10.
func (w *fakeBuyers) recordPing(life int, req *market.PingRequest) *receivedPing {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running.Add(1)
	p := &receivedPing{process: life, at: time.Since(virtualStart), body: bytes.Clone(req.Body), hops: req.Hops, answer: bids("10")}
	p.buyer = strings.TrimSuffix(strings.TrimPrefix(req.Endpoint.URL, "https://"), ".example/v1/ping")
	if !reflect.DeepEqual(&req.Endpoint, pingEndpointOf(p.buyer)) {
		w.t.Errorf("a ping to an endpoint that nobody has: %+v", req.Endpoint)
	}
	expectEqual(w.t, req.Test, isTestBuyer(p.buyer), p.buyer, " is pinged as a test")
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
	if all := w.bidScripts[p.buyer]; len(all) > 0 {
		p.answer = all[min(w.pingCounts[p.buyer], len(all)-1)]
	}
	w.pingCounts[p.buyer]++
	if p.answer.result.Bid.Token != "" {
		p.token = "tok-" + p.buyer + "-" + p.auction[len(p.auction)-6:]
	}
	w.pings = append(w.pings, p)
	return p
}

// Ping is a buyer's answer, which comes by the deadline unless it is deaf.
func (l *testProcess) Ping(req *market.PingRequest) market.PingResult {
	l.mu.Lock()
	dead := l.dead
	l.mu.Unlock()
	if dead {
		return market.PingResult{Outcome: market.OutcomeError}
	}
	p := l.recordPing(l.number, req)
	defer l.running.Done()
	wait := p.answer.delay
	left := time.Until(req.Deadline)
	if !p.answer.ignoresDeadline {
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
	if !p.answer.ignoresDeadline && p.answer.delay > left {
		return market.PingResult{Outcome: market.OutcomeTimeout, Fault: market.FaultTimeout, Elapsed: wait}
	}
	result := p.answer.result
	result.Bid.Token, result.Elapsed = p.token, wait
	return result
}

// bidTokenOf is what the buyer gave the exchange in an auction.
func (w *fakeBuyers) bidTokenOf(buyer, auction string) string {
	for _, p := range w.pings {
		if p.buyer == buyer && p.auction == auction {
			return p.token
		}
	}
	return ""
}

// pingAttempts lists the pings so far as "buyer@time".
func (w *fakeBuyers) pingAttempts() (list []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.pings {
		list = append(list, p.buyer+"@"+p.at.String())
	}
	return list
}

// supplierPing is a seller's ping number n, under a key of its own, with what the
// pairs change: see person.
func supplierPing(n int, pairs ...string) request {
	values := map[string]string{"auction_id": fmt.Sprint("a", n), "vertical": "auto_insurance", "state": "CA", "tcpa_consent": "#true"}
	return requestWith(values, pairs).withKey(fmt.Sprint("p", n))
}

// availabilityRequest is a supplier's question who is there to buy.
func availabilityRequest(pairs ...string) request {
	return requestWith(map[string]string{"flo_campaign_id": "auto", "flo_supplier_id": "acme", "state": "CA"}, pairs)
}

func (x *testExchange) pingRequest(r request) *engine.SupplierPingRequest {
	return &engine.SupplierPingRequest{
		Supplier: x.engine.ActiveCatalog().Suppliers[market.SupplierID(r.supplier)],
		Members:  r.members, Body: r.body, Key: []byte(r.key), BadKey: r.badKey, Test: r.test, BadTest: r.badTest,
		Request: x.newRequestID(), Received: time.Now().UnixNano(), Hops: r.hops,
	}
}

// ping holds an auction over a seller's ping that has just arrived.
func (x *testExchange) ping(r request) (engine.PingAnswer, error) {
	return x.engine.PingForBestBid(x.pingRequest(r))
}

// requestAvailability asks who is there to buy.
func (x *testExchange) requestAvailability(r request) (engine.PingAnswer, error) {
	return x.engine.PingForAllBids(x.pingRequest(r))
}

// describePing is an answer to a ping in a word: what is bid, or offered by whom, or why
// nothing, or an error's code with the failing fields.
func describePing(a engine.PingAnswer, err error) string {
	switch {
	case err != nil:
		return describeIngest(engine.IngestAnswer{}, err)
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

func (x *testExchange) startPing(r request) *pingCall {
	return startCall(func() (engine.PingAnswer, error) { return x.ping(r) }, describePing)
}

// auctionMarket is a market of one campaign that holds auctions, among so many
// buyers with endpoints for pings and posts.
func auctionMarket(names ...string) marketSpec {
	var buyers []buyer
	for _, name := range names {
		buyers = append(buyers, buyer{id: name, postEndpoint: true, pingEndpoint: true})
	}
	return marketOf(market.PingPost, buyers...)
}

// At is the log as history.
func (l *testProcess) At(seq uint64) ([]byte, error) {
	entries := l.log.durable()
	if seq == 0 || seq > uint64(len(entries)) {
		return nil, errors.New("no such entry")
	}
	return bytes.Clone(entries[seq-1].data), nil
}

// auctionInfo is what a supplier knows of an auction.
type auctionInfo struct {
	id        string // its own, or our ping id
	auctionID market.AuctionID
	token     string
}

// pingAuction holds an auction over a seller's ping; there is a bid, or is none.
func (x *testExchange) pingAuction(r request) auctionInfo {
	x.t.Helper()
	a := must.Value(x.ping(r))(x.t)
	t := auctionInfo{id: a.SellerAuction, auctionID: a.Auction, token: string(a.Token.AppendTo(nil))}
	if a.Token.IsZero() {
		t.token = "none"
	}
	return t
}

// availabilityAuction asks who is there to buy.
func (x *testExchange) availabilityAuction(r request) auctionInfo {
	x.t.Helper()
	a := must.Value(x.requestAvailability(r))(x.t)
	return auctionInfo{id: market.PingID(a.Auction).String(), auctionID: a.Auction}
}

// postInput is a post to be sent.
type postInput struct {
	supplier                       string
	auction, token, supplierLeadID string // "-": not there
	lead                           request
	faults                         []market.FieldError
	key                            string
	badKey                         bool
	test, badTest                  bool
}

// postFor is person n for the bid of an auction, under a key of its own.
func postFor(n int, a auctionInfo, pairs ...string) postInput {
	pairs = append([]string{"flo_campaign_id", "-", "flo_supplier_id", "-", "state", "-"}, pairs...)
	return postInput{
		supplier: "acme", auction: a.id, token: a.token, supplierLeadID: fmt.Sprint("theirs-", n),
		lead: leadRequest(n, pairs...), key: fmt.Sprint("post-", n),
	}
}

// withKey is the same post under another key.
func (p postInput) withKey(key string) postInput { p.key = key; return p }

// asTest is the same post as a test.
func (p postInput) asTest() postInput { p.test = true; return p }

// sellAtBid posts a request that has just arrived.
func (x *testExchange) sellAtBid(p postInput) (engine.PostSaleAnswer, error) {
	return x.engine.SellAtBid(x.postRequest(p))
}

func (x *testExchange) postRequest(p postInput) *engine.SupplierPostRequest {
	return &engine.SupplierPostRequest{
		Supplier: x.engine.ActiveCatalog().Suppliers[market.SupplierID(p.supplier)],
		Auction:  member("auction_id", p.auction), Token: member("bid_token", p.token), LeadUUID: member("lead_uuid", p.supplierLeadID),
		Lead: p.lead.members, Faults: p.faults,
		Body: fmt.Append(nil, p.auction, p.token, p.supplierLeadID, string(p.lead.body)), Key: []byte(p.key), BadKey: p.badKey,
		Test: p.test, BadTest: p.badTest,
		Request: x.newRequestID(), Received: time.Now().UnixNano(),
	}
}

// describeSale is an answer in a few words.
func describeSale(a engine.PostSaleAnswer, err error) string {
	var refusal *engine.Refusal
	if errors.As(err, &refusal) && refusal.Reason != market.ReasonNone {
		return string(refusal.Code) + " " + refusal.Reason.String()
	}
	if err != nil {
		return describeIngest(engine.IngestAnswer{}, err)
	}
	return a.Buyer + " " + a.BuyerLead + " " + a.Payout.String()
}

// saleResult posts and says what came of it.
func (x *testExchange) saleResult(p postInput) string { return describeSale(x.sellAtBid(p)) }

func (x *testExchange) startSale(p postInput) *saleCall {
	e, req := x.engine, x.postRequest(p) // of this process, whatever comes next
	return startCall(func() (engine.PostSaleAnswer, error) { return e.SellAtBid(req) }, describeSale)
}

// answerText is an answer as bytes, but for what says that it is a repetition.
func answerText(s *saleCall) string {
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

// twoBidders is a market of two buyers: blue bids 10, of which 8 are the supplier's,
// and gold bids 6.
func twoBidders() marketSpec {
	r := auctionMarket("blue", "gold").changeBuyers(func(b *buyer) { b.funds = "100" })
	r.buyers[1].bid = "6"
	r.suppliers, r.campaigns[0].payout, r.campaigns[0].duplicates = []string{"other"}, "0.8", anyOf
	return r
}

// checkPromisedSales holds a log to what is always true of promises: a lead is sold by a
// bid of its auction to the one who made it, at its price, before its window ended,
// and to nobody after.
func checkPromisedSales(t testing.TB, entries []entry) {
	t.Helper()
	held := map[[16]byte]*event.PingAuctionCompleted{}
	for i, record := range decodeAll(t, entries) {
		switch record := record.(type) {
		case *event.PingAuctionCompleted:
			held[record.Name] = record
		case *event.LeadDecided:
			if record.Sale.Ping != [16]byte{} {
				checkPromisedSale(t, held[record.Sale.Ping], record)
			}
		case *event.PostSettled:
			if record.Next.Buyer != 0 && record.Sale.Ping != [16]byte{} {
				t.Errorf("entry %d: a promised lead went on to another buyer", i+1)
			}
		}
	}
}

func checkPromisedSale(t testing.TB, auction *event.PingAuctionCompleted, lead *event.LeadDecided) {
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
