package public

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pingpost/engine/market"
)

// fakeBuyers are all buyers of the tests.
type fakeBuyers struct {
	mu          sync.Mutex
	bids        map[string]market.Money  // by host; missing: no bid
	pingGate    chan struct{}            // pings wait until it is closed; nil: no wait
	postGate    chan struct{}            // posts wait until it is closed; nil: no wait
	postResults []market.BuyerPostResult // results of the next posts; later posts are accepted
	validUntil  int64                    // expiry of the bids, Unix nanoseconds; 0: not set
	hops        []int
	pings       []string // bodies of the pings
	posts       []string // bodies of the posts
	tests       []string // hosts that received a test request
}

func (b *fakeBuyers) Ping(req *market.BuyerPingRequest) market.BuyerPingResult {
	host, _ := url.Parse(req.Endpoint.URL)
	b.mu.Lock()
	amount, until, hold := b.bids[host.Host], b.validUntil, b.pingGate
	b.hops = append(b.hops, req.Hops)
	b.pings = append(b.pings, string(req.Body))
	b.recordTest(host.Host, req.Test)
	b.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if amount == 0 {
		return market.BuyerPingResult{Outcome: market.OutcomeNoBid, Reason: "not_today", Status: 200}
	}
	return market.BuyerPingResult{Bid: market.Bid{Amount: amount, Token: "of-" + host.Host, ValidUntil: until}, Status: 200}
}

func (b *fakeBuyers) Post(req *market.BuyerPostRequest) market.BuyerPostResult {
	b.mu.Lock()
	b.posts = append(b.posts, string(req.Body))
	to, _ := url.Parse(req.Endpoint.URL)
	b.recordTest(to.Host, req.Test)
	result := market.BuyerPostResult{Verdict: market.VerdictAccepted, Status: 201, BuyerLeadID: "theirs"}
	if len(b.postResults) > 0 {
		result, b.postResults = b.postResults[0], b.postResults[1:]
	}
	gate := b.postGate
	b.mu.Unlock()
	if gate != nil {
		<-gate
	}
	return result
}

func (b *fakeBuyers) recordTest(host string, test bool) {
	if test {
		b.tests = append(b.tests, host)
	}
}

// update changes the buyers under their lock.
func (b *fakeBuyers) update(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

// pingCount returns the number of received pings.
func (b *fakeBuyers) pingCount() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.hops)
}

// received returns the bodies of all pings and posts, without the ids that the exchange creates.
func (b *fakeBuyers) received() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return createdValues.ReplaceAllString(strings.Join(append(slices.Clone(b.pings), b.posts...), "\n"), "…")
}

// createdValues matches ids and times that differ between two requests with the same content.
var createdValues = regexp.MustCompile(`(auc|lead|ping)_[0-9a-z]{26}|\d{4}-\d\d-\d\dT[0-9:.]+Z`)

func (b *fakeBuyers) postCount() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.posts)
}
