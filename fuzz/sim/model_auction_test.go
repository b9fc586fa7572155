package sim

import (
	"slices"
	"strings"
	"time"
)

// answeredAuction is an auction whose bids were answered, and may be used for a sale.
type answeredAuction struct {
	name, campaign, supplier string
	line                     line
	bids                     []*candidate // acceptable bids, best first
	payouts                  map[string]int64
	until                    int64
	soldTo                   string
	keep                     int64
	answer                   string
}

const auctionTime = int64(2 * time.Second)

// floorPrice returns the lowest possible price of a sale in the filter set.
func (in *intake) floorPrice(seat line) int64 {
	c := in.terms.campaigns[in.campaign]
	if c.at(1) == "ping_post" {
		return max(c.money("floor"), c.money("fixed"), 1)
	}
	return termsAt(seat, in.now).price
}

// auction asks all eligible buyers and keeps the candidates with acceptable bids.
func (in *intake) auction() {
	in.hadAuction = true
	if !in.line.has("state") {
		for _, c := range in.candidates {
			c.out = "no_state_match"
		}
		if len(in.candidates) == 0 {
			in.candidates = []*candidate{{out: "no_state_match"}}
		}
		return
	}
	began, end := in.now, in.now
	asked, answered := 0, 0
	offers := map[*candidate]offer{}
	seen := map[string]bool{}
	for _, c := range in.candidates {
		buyer := in.buyerOf(c)
		switch c.out = in.screen(c.seat, in.floorPrice(c.seat), false); {
		case c.out != "":
			continue
		case !in.terms.buyers[buyer].has("pings"):
			c.out = "no_bid"
			continue
		case seen[buyer]:
			c.out = otherSet
			continue
		}
		seen[buyer] = true
		switch {
		case in.failures[buyer] >= 4 && !in.seen.asked[buyer]:
			c.out = "no_bid" // spared because of recent failures
		default:
			asked++
			o := in.conduct.bid(buyer, in.line.at(0))
			offers[c] = o
			c.came = began + int64(o.after)
			end = max(end, c.came)
		}
	}
	end = min(end, began+auctionTime)
	for _, c := range in.candidates {
		if o, ok := offers[c]; ok && c.came <= end {
			if o.what != "hang" {
				answered++
			}
		}
	}
	in.allSilent = asked > 0 && answered == 0
	in.until(end)
	for _, c := range in.candidates {
		if o, ok := offers[c]; ok {
			in.verdict(c, o, began)
		}
	}
}

// verdict returns the result of a buyer's answer.
func (in *intake) verdict(c *candidate, o offer, began int64) {
	m, campaign, buyer := in.model, in.terms.campaigns[in.campaign], in.buyerOf(c)
	failed := true
	defer func() {
		if failed {
			m.failures[buyer]++
		} else if o.what != "throttle" {
			m.failures[buyer] = max(0, m.failures[buyer]-1)
		}
	}()
	_, pays := m.payout(in.campaign, o.amount)
	_, fits := m.charges(c.seat, o.amount, nil, began)
	switch {
	case c.came > began+auctionTime:
		c.out = "no_bid"
		return
	case o.what == "throttle":
		c.out, failed = "rate_limited", false
		return
	case o.what == "error" || o.what == "garbage":
		c.out = "no_bid"
		return
	}
	failed = false
	switch {
	case o.what == "none" || o.what == "euro":
		c.out = "no_bid"
	case o.amount < campaign.money("floor") || !pays:
		c.out = "below_floor"
	case !fits:
		c.out = "caps_full"
	case !m.canPay(buyer, o.amount):
		c.out = "insufficient_funds"
	default:
		c.bid = o.amount
	}
}

// recheck repeats, after an auction, the checks whose results may have changed.
func (in *intake) recheck() {
	for _, c := range in.candidates {
		if c.out == "" {
			c.out = in.screen(c.seat, in.floorPrice(c.seat), true)
		}
	}
}

// ping is a ping or an availability request.
func (m *model) ping(l line) string {
	endpoint, name := l.verb, l.verb+" "+l.at(1)+" "+l.at(0)
	key := keyName(endpoint, l.at(1), l.said["key"])
	if used, ok := m.keys[key]; ok && key != "" && !past(used.until, m.now) {
		if used.body != bodyOf(l) {
			return "idempotency_key_reused"
		}
		return used.answer + " again"
	}
	c, known := m.terms.campaigns[l.at(2)]
	active := known && !m.paused["campaign "+l.at(2)]
	if endpoint == "ask" && !active {
		return "invalid_payload flo_campaign_id:" + map[bool]string{true: "inactive", false: "unknown"}[known]
	}
	if a := m.auctions[name]; a != nil && !past(a.keep, m.now) && endpoint == "ping" {
		return "auction_exists"
	}
	in := &intake{model: m, line: l, campaign: l.at(2), received: m.now}
	a := &answeredAuction{name: name, campaign: l.at(2), supplier: l.at(1), line: l, until: m.now + ceiling, keep: m.now + remembering, payouts: map[string]int64{}}
	began := m.now
	switch {
	case !active || c.at(1) != "ping_post":
		a.answer = "none no_campaign"
	case !passes(c, l):
		a.answer = "none filtered"
	default:
		for _, seat := range m.terms.lineup(in.campaign) {
			in.candidates = append(in.candidates, &candidate{seat: seat})
		}
		in.auction()
		a.answer = in.auctionAnswer(a)
	}
	m.commit(func() {
		m.auctions[name] = a
		if key != "" {
			m.keys[key] = usedKey{body: bodyOf(l), answer: a.answer, until: began + remembering}
		}
	})
	return a.answer
}

// auctionAnswer returns the answer to an auction.
func (in *intake) auctionAnswer(a *answeredAuction) string {
	for _, c := range in.candidates {
		if c.out == "" {
			a.bids = append(a.bids, c)
			a.payouts[in.buyerOf(c)], _ = in.model.payout(in.campaign, c.bid)
		}
	}
	if len(a.bids) == 0 {
		return "none " + in.reason()
	}
	slices.SortFunc(a.bids, func(x, y *candidate) int {
		if better(x, y) {
			return -1
		}
		return 1
	})
	if in.line.verb == "ping" {
		return "bid " + amount(a.payouts[in.buyerOf(a.bids[0])])
	}
	words := []string{"offers"}
	for _, c := range a.bids {
		words = append(words, in.buyerOf(c)+":"+amount(a.payouts[in.buyerOf(c)]))
	}
	return strings.Join(words, " ")
}

// choice finds the bid that a lead for a chosen buyer uses.
func (in *intake) choice() (fault string) {
	a := in.auctions["ask "+in.line.at(1)+" "+in.line.said["ping"]]
	if a == nil || past(a.keep, in.now) || a.campaign != in.campaign {
		return "invalid_payload flo_ping_id:unknown"
	}
	for _, c := range a.bids {
		if in.buyerOf(c) == in.line.said["buyer"] {
			in.auctionOf, in.picked = a, c
			return ""
		}
	}
	return "invalid_payload flo_buyer_id:unknown"
}

// checkBid returns the reasons against a sale at an earlier bid.
func (in *intake) checkBid() (code, reason string) {
	m, a := in.model, in.auctionOf
	seat, seated := m.terms.seats[[3]string{in.campaign, in.buyerOf(in.picked), in.picked.seat.at(2)}]
	c := m.terms.campaigns[in.campaign]
	in.price, in.payout = in.picked.bid, a.payouts[in.buyerOf(in.picked)]
	switch {
	case past(a.keep, m.now):
		return "bid_expired", ""
	case a.soldTo != "":
		return "already_sold", ""
	case m.now >= a.until, !seated, m.paused["campaign "+in.campaign], m.paused["buyer "+in.buyerOf(in.picked)]:
		return "bid_expired", ""
	}
	switch {
	case !passes(c, in.line):
		return "", "filtered"
	case m.listed(c, in.line.said["phone"]):
		return "", "suppressed"
	case c.said["scope"] != "buyer" && in.isDuplicate(""):
		return "", "duplicate"
	case !passes(seat, in.line):
		return "", "filtered"
	case m.listed(m.terms.buyers[in.buyerOf(in.picked)], in.line.said["phone"]):
		return "", "suppressed"
	case c.said["scope"] == "buyer" && in.isDuplicate(in.buyerOf(in.picked)):
		return "", "duplicate"
	}
	charges, fits := m.charges(seat, in.price, nil, m.now)
	if !fits || !m.canPay(in.buyerOf(in.picked), in.price) {
		return "bid_expired", ""
	}
	in.taken = charges
	return "", ""
}

// sellToChosen sells a lead to a chosen buyer.
func (in *intake) sellToChosen() string {
	code, reason := in.checkBid()
	switch {
	case code != "":
		in.duplicates = nil
		return in.unmatched("bid_expired")
	case reason != "":
		return in.unmatched(reason)
	}
	return in.sellToPicked()
}

// sale is a lead sent to POST /v1/post.
func (m *model) sale(label string, l line) string {
	in := &intake{model: m, line: l, campaign: l.at(2), received: m.now, key: keyName("post", l.at(1), l.said["key"]), chosen: true, seller: true}
	if used, ok := m.keys[in.key]; ok && !past(used.until, m.now) {
		if used.body != bodyOf(l) {
			return "idempotency_key_reused"
		}
		return m.repeatSale(m.leads[used.lead])
	}
	a := m.auctions["ping "+l.at(1)+" "+l.said["ping"]]
	if a == nil || past(a.keep, m.now) || len(a.bids) == 0 {
		return "invalid_bid_token"
	}
	in.auctionOf, in.picked, in.campaign = a, a.bids[0], a.campaign
	in.lead = &lead{label: label, campaign: in.campaign, supplier: l.at(1), received: m.now, status: "open"}
	code, reason := in.checkBid()
	switch {
	case code != "":
		return code
	case reason != "":
		in.unmatched(reason)
	default:
		in.sellToPicked()
	}
	return m.outcome(in.lead)
}

// repeatSale waits for the first post with the key, and returns the lead's outcome.
func (m *model) repeatSale(l *lead) string {
	due := m.now + ceiling
	for m.delivering(l) != nil {
		next := due
		for _, d := range m.deliveries {
			if !d.attended && !d.cut {
				next = min(next, d.at)
			}
		}
		m.until(next)
		if next == due {
			break
		}
	}
	told := m.outcome(l)
	if !strings.HasPrefix(told, "buyer_") {
		told += " again"
	}
	return told
}

func (m *model) delivering(l *lead) *delivery {
	for _, d := range m.deliveries {
		if d.lead == l {
			return d
		}
	}
	return nil
}

// outcome returns the outcome that a seller sees.
func (m *model) outcome(l *lead) string {
	switch l.delivery {
	case "failed", "released":
		return "post_rejected " + l.reason
	case "pending", "unknown":
		if d := m.delivering(l); d != nil && (d.trying || d.last.after >= postTimeout) {
			return "buyer_timeout"
		}
		return "buyer_unavailable"
	}
	if l.status == "UNMATCHED" {
		return "post_rejected " + l.reason
	}
	return "sold to " + l.buyer + " for " + amount(l.payout)
}
