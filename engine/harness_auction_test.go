package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	"pingpost/engine"
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
