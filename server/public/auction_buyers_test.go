package public

import (
	"net/url"
	"sync"

	"pingpost/engine/market"
)

// bidders are the buyers of these tests, in one.
type bidders struct {
	mu    sync.Mutex
	bids  map[string]market.Money // by host; missing: no bid
	hold  chan struct{}           // pings wait until it is closed; nil: they do not
	gate  chan struct{}           // so do posts
	sells []market.PostResult     // of the posts to come; after the last: taken
	until int64                   // expiry of bids, Unix nanoseconds; 0: not sent
	hops  []int
	posts []string // bodies
	tests []string // hosts that received a test
}

func (b *bidders) Ping(req *market.PingRequest) market.PingResult {
	host, _ := url.Parse(req.Endpoint.URL)
	b.mu.Lock()
	amount, until, hold := b.bids[host.Host], b.until, b.hold
	b.hops = append(b.hops, req.Hops)
	b.noteTest(host.Host, req.Test)
	b.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if amount == 0 {
		return market.PingResult{Outcome: market.OutcomeNoBid, Reason: "not_today", Status: 200}
	}
	return market.PingResult{Bid: market.Bid{Amount: amount, Token: "of-" + host.Host, ValidUntil: until}, Status: 200}
}

func (b *bidders) Post(req *market.PostRequest) market.PostResult {
	b.mu.Lock()
	b.posts = append(b.posts, string(req.Body))
	to, _ := url.Parse(req.Endpoint.URL)
	b.noteTest(to.Host, req.Test)
	result := market.PostResult{Verdict: market.VerdictAccepted, Status: 201, BuyerLeadID: "theirs"}
	if len(b.sells) > 0 {
		result, b.sells = b.sells[0], b.sells[1:]
	}
	gate := b.gate
	b.mu.Unlock()
	if gate != nil {
		<-gate
	}
	return result
}

func (b *bidders) noteTest(host string, test bool) {
	if test {
		b.tests = append(b.tests, host)
	}
}

// set changes the buyers' behaviour.
func (b *bidders) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

// asked is how many pings came.
func (b *bidders) asked() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.hops)
}

func (b *bidders) posted() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.posts)
}
