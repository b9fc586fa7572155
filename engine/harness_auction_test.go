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

// bidReply is a buyer's scripted answer to a ping.
type bidReply struct {
	delay           time.Duration // never: hangs until the deadline
	result          market.BuyerPingResult
	ignoresDeadline bool // answers after the delay, even after the deadline
	panics          bool
}

// bids returns a reply with a bid of the amount.
func bids(amount string) bidReply {
	m, err := market.ParseMoney([]byte(amount))
	if err != nil {
		panic(err)
	}
	return bidReply{result: market.BuyerPingResult{Status: 200, Bid: market.Bid{Amount: m, Token: "tok"}}}
}

var (
	noBid        = bidReply{result: market.BuyerPingResult{Outcome: market.OutcomeNoBid, Status: 200, Reason: "not_today"}}
	invalidBid   = bidReply{result: market.BuyerPingResult{Outcome: market.OutcomeInvalid, Status: 200, Fault: market.FaultMalformed}}
	pingError    = bidReply{result: market.BuyerPingResult{Outcome: market.OutcomeError, Status: 500}}
	rateLimited  = bidReply{result: market.BuyerPingResult{Outcome: market.OutcomeRateLimited, Status: 429}}
	neverBids    = bidReply{delay: never}
	panicsAtPing = bidReply{panics: true}
)

// after returns the same reply with a delay.
func (o bidReply) after(d time.Duration) bidReply { o.delay = d; return o }

// ignoringDeadline returns the same reply with a delay that may pass the deadline.
func (o bidReply) ignoringDeadline(d time.Duration) bidReply {
	o.delay, o.ignoresDeadline = d, true
	return o
}

// inCurrency returns the same bid in another currency.
func (o bidReply) inCurrency(currency string) bidReply {
	copy(o.result.Bid.Currency[:], currency)
	return o
}

// validFor returns the same bid, valid until d after the start of virtual time.
func (o bidReply) validFor(d time.Duration) bidReply {
	o.result.Bid.ValidUntil = virtualStart.Add(d).UnixNano()
	return o
}

// receivedPing is one ping as the buyer received it.
type receivedPing struct {
	process int
	at      time.Duration
	buyer   string
	auction string
	body    []byte
	hops    int
	expires time.Time
	answer  bidReply
	token   string // of the bid in the answer
}

// pingEndpointOf returns the buyer's ping endpoint.
func pingEndpointOf(buyer string) *market.OutboundEndpoint {
	to := endpointOf(buyer)
	to.URL = "https://" + buyer + ".example/v1/ping"
	return to
}

// scriptBids sets the buyer's replies to successive pings. The last one repeats.
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

// recordPing checks and records a ping, and selects its reply. Without a script, a buyer bids 10.
func (w *fakeBuyers) recordPing(life int, req *market.BuyerPingRequest) *receivedPing {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running.Add(1)
	p := &receivedPing{process: life, at: time.Since(virtualStart), body: bytes.Clone(req.Body), hops: req.Hops, answer: bids("10")}
	p.buyer = strings.TrimSuffix(strings.TrimPrefix(req.Endpoint.URL, "https://"), ".example/v1/ping")
	if !reflect.DeepEqual(&req.Endpoint, pingEndpointOf(p.buyer)) {
		w.t.Errorf("ping to an unknown endpoint: %+v", req.Endpoint)
	}
	expectEqual(w.t, req.Test, isTestBuyer(p.buyer), p.buyer, ": test flag of the ping")
	match := pingInBody.FindSubmatch(req.Body)
	if len(match) == 0 || !bytes.Equal(match[1], req.Auction) || req.IdempotencyKey != string(req.Auction) || req.RequestID.IsZero() || req.Hops < 1 {
		w.t.Errorf("invalid ping: %+v %s", req, req.Body)
		return p
	}
	p.auction = string(match[1])
	p.expires = must.Value(time.Parse(time.RFC3339Nano, string(match[2])))(w.t)
	if ahead := req.Deadline.Sub(p.expires); ahead < 0 || ahead >= time.Millisecond {
		w.t.Errorf("ping to %s: expires_at %s, deadline %s", p.buyer, p.expires, req.Deadline)
	}
	for _, person := range []string{"+1415", "example.com\"", "first_name", "Pat"} {
		if bytes.Contains(req.Body, []byte(person)) {
			w.t.Errorf("ping has contact data: %s", req.Body)
		}
	}
	for _, before := range w.pings {
		if before.auction == p.auction && before.buyer == p.buyer {
			w.t.Errorf("%s got two pings in auction %s", p.buyer, p.auction)
		}
		if before.auction == p.auction && !bytes.Equal(before.body, p.body) {
			w.t.Errorf("auction %s has two ping bodies:\n%s\n%s", p.auction, before.body, p.body)
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

// Ping returns the buyer's reply, at the deadline at the latest unless the reply ignores it.
func (l *testProcess) Ping(req *market.BuyerPingRequest) market.BuyerPingResult {
	l.mu.Lock()
	dead := l.dead
	l.mu.Unlock()
	if dead {
		return market.BuyerPingResult{Outcome: market.OutcomeError}
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
		l.t.Errorf("the body of the ping to %s changed before its answer", p.buyer)
	}
	if p.answer.panics {
		panic("simulated bug")
	}
	if !p.answer.ignoresDeadline && p.answer.delay > left {
		return market.BuyerPingResult{Outcome: market.OutcomeTimeout, Fault: market.FaultTimeout, Elapsed: wait}
	}
	result := p.answer.result
	result.Bid.Token, result.Elapsed = p.token, wait
	return result
}

// bidTokenOf returns the token of the buyer's bid in an auction.
func (w *fakeBuyers) bidTokenOf(buyer, auction string) string {
	for _, p := range w.pings {
		if p.buyer == buyer && p.auction == auction {
			return p.token
		}
	}
	return ""
}

// pingAttempts returns the pings so far as "buyer@time".
func (w *fakeBuyers) pingAttempts() (list []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.pings {
		list = append(list, p.buyer+"@"+p.at.String())
	}
	return list
}

// supplierPing returns ping n with its own idempotency key. For the pairs see ingestOrPostInput.
func supplierPing(n int, pairs ...string) request {
	values := map[string]string{"auction_id": fmt.Sprint("a", n), "vertical": "auto_insurance", "state": "CA", "tcpa_consent": "#true"}
	return requestWith(values, pairs).withKey(fmt.Sprint("p", n))
}

// availabilityRequest returns a supplier's request for all bids.
func availabilityRequest(pairs ...string) request {
	return requestWith(map[string]string{"flo_campaign_id": "auto", "flo_supplier_id": "acme", "state": "CA"}, pairs)
}

func (x *testExchange) pingRequest(r request) *engine.SupplierPingRequest {
	return &engine.SupplierPingRequest{
		Supplier: x.engine.ActiveCatalogOrNil().Suppliers[market.SupplierID(r.supplier)],
		Members:  r.members, Body: r.body, Key: []byte(r.key), BadKey: r.badKey, Test: r.test, BadTest: r.badTest,
		Request: x.newRequestID(), Received: time.Now().UnixNano(), Hops: r.hops,
	}
}

// ping runs the auction of a ping received now.
func (x *testExchange) ping(r request) (engine.SupplierPingAnswer, error) {
	return x.engine.PingForBestBid(x.pingRequest(r))
}

// requestAvailability runs the auction of an availability request received now.
func (x *testExchange) requestAvailability(r request) (engine.SupplierPingAnswer, error) {
	return x.engine.PingForAllBids(x.pingRequest(r))
}

// describePing returns the bid, the offers by buyer, the reason without a bid, or the error's
// code with the invalid fields.
func describePing(a engine.SupplierPingAnswer, err error) string {
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
	return startCall(func() (engine.SupplierPingAnswer, error) { return x.ping(r) }, describePing)
}

// auctionMarket returns a market with one ping_post campaign. Its buyers have endpoints for
// pings and posts.
func auctionMarket(names ...string) marketSpec {
	var buyers []buyer
	for _, name := range names {
		buyers = append(buyers, buyer{id: name, postEndpoint: true, pingEndpoint: true})
	}
	return marketOf(market.PingPost, buyers...)
}

// At returns an event of the log, as engine.LogHistory.
func (l *testProcess) At(seq uint64) ([]byte, error) {
	entries := l.log.durable()
	if seq == 0 || seq > uint64(len(entries)) {
		return nil, errors.New("no such entry")
	}
	return bytes.Clone(entries[seq-1].data), nil
}

// auctionInfo is the part of an auction's answer that a supplier uses later.
type auctionInfo struct {
	id        string // the supplier's auction id, or the exchange's ping id
	auctionID market.AuctionID
	token     string
}

// pingAuction pings and returns the auction. Without a bid its token is "none".
func (x *testExchange) pingAuction(r request) auctionInfo {
	x.t.Helper()
	a := must.Value(x.ping(r))(x.t)
	t := auctionInfo{id: a.SellerAuction, auctionID: a.Auction, token: string(a.Token.AppendAsText(nil))}
	if a.Token.IsZero() {
		t.token = "none"
	}
	return t
}

// availabilityAuction requests all bids and returns the auction.
func (x *testExchange) availabilityAuction(r request) auctionInfo {
	x.t.Helper()
	a := must.Value(x.requestAvailability(r))(x.t)
	return auctionInfo{id: market.PingID(a.Auction).String(), auctionID: a.Auction}
}

// postInput is the input of a supplier's post.
type postInput struct {
	supplier                       string
	auction, token, supplierLeadID string // "-": missing
	lead                           request
	faults                         []market.FieldError
	key                            string
	badKey                         bool
	test, badTest                  bool
}

// postFor returns a post of lead n at the auction's bid, with its own idempotency key.
func postFor(n int, a auctionInfo, pairs ...string) postInput {
	pairs = append([]string{"flo_campaign_id", "-", "flo_supplier_id", "-", "state", "-"}, pairs...)
	return postInput{
		supplier: "acme", auction: a.id, token: a.token, supplierLeadID: fmt.Sprint("theirs-", n),
		lead: leadRequest(n, pairs...), key: fmt.Sprint("post-", n),
	}
}

// withKey returns the same post with another idempotency key.
func (p postInput) withKey(key string) postInput { p.key = key; return p }

// asTest returns the same post for a test lead.
func (p postInput) asTest() postInput { p.test = true; return p }

// sellAtBid sends a post received now.
func (x *testExchange) sellAtBid(p postInput) (engine.SupplierPostAnswer, error) {
	return x.engine.SellAtBid(x.postRequest(p))
}

func (x *testExchange) postRequest(p postInput) *engine.SupplierPostRequest {
	return &engine.SupplierPostRequest{
		Supplier: x.engine.ActiveCatalogOrNil().Suppliers[market.SupplierID(p.supplier)],
		Auction:  member("auction_id", p.auction), Token: member("bid_token", p.token), LeadUUID: member("lead_uuid", p.supplierLeadID),
		Lead: p.lead.members, Faults: p.faults,
		Body: fmt.Append(nil, p.auction, p.token, p.supplierLeadID, string(p.lead.body)), Key: []byte(p.key), BadKey: p.badKey,
		Test: p.test, BadTest: p.badTest,
		Request: x.newRequestID(), Received: time.Now().UnixNano(),
	}
}

// describeSale returns buyer, buyer's lead id and payout, or the error's code and reason.
func describeSale(a engine.SupplierPostAnswer, err error) string {
	var refusal *engine.Refusal
	if errors.As(err, &refusal) && refusal.Reason != market.ReasonNone {
		return string(refusal.Code) + " " + refusal.Reason.String()
	}
	if err != nil {
		return describeIngest(engine.IngestAnswer{}, err)
	}
	return a.Buyer + " " + a.BuyerLead + " " + a.Payout.String()
}

// saleResult sends a post and describes its answer.
func (x *testExchange) saleResult(p postInput) string { return describeSale(x.sellAtBid(p)) }

func (x *testExchange) startSale(p postInput) *saleCall {
	e, req := x.engine, x.postRequest(p) // of this process, also after a restart
	return startCall(func() (engine.SupplierPostAnswer, error) { return e.SellAtBid(req) }, describeSale)
}

// answerText returns all of an answer as text, except its replay flag.
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

// twoBidders returns a market in which blue bids 10 and gold bids 6. The payout is 80%.
func twoBidders() marketSpec {
	r := auctionMarket("blue", "gold").changeBuyers(func(b *buyer) { b.funds = "100" })
	r.buyers[1].bid = "6"
	r.suppliers, r.campaigns[0].payout, r.campaigns[0].duplicates = []string{"other"}, "0.8", anyOf
	return r
}

// checkPromisedSales checks the sales at accepted bids: to the bid's buyer, at its price, before
// it expired, and to no other buyer later.
func checkPromisedSales(t testing.TB, entries []entry) {
	t.Helper()
	auctions := map[[16]byte]*event.PingAuctionCompleted{}
	for i, record := range decodeAll(t, entries) {
		switch record := record.(type) {
		case *event.PingAuctionCompleted:
			auctions[record.Name] = record
		case *event.LeadDecided:
			if record.Sale.Ping != [16]byte{} {
				checkPromisedSale(t, auctions[record.Sale.Ping], record)
			}
		case *event.PostSettled:
			if record.Next.Buyer != 0 && record.Sale.Ping != [16]byte{} {
				t.Errorf("entry %d: a lead sold at a bid went to another buyer", i+1)
			}
		}
	}
}

func checkPromisedSale(t testing.TB, auction *event.PingAuctionCompleted, lead *event.LeadDecided) {
	t.Helper()
	if auction == nil {
		t.Errorf("lead %s is sold at an auction that the log does not have", lead.Lead)
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
			t.Errorf("lead %s is posted with another auction id", lead.Lead)
		}
		return
	}
	t.Errorf("lead %s is sold to a buyer without a bid", lead.Lead)
}
