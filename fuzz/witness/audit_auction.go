package witness

import (
	"slices"

	"pingpost/engine/market"
)

// sort puts the suppliers' answers where they belong.
func (p *Picture) sort(answers []*told, late []string) {
	p.late = late
	for _, t := range answers {
		switch {
		case t.path == pathPing:
			p.pings = append(p.pings, t)
		case t.path == pathAsk:
			p.asks = append(p.asks, t)
		case t.refused:
			p.refused = append(p.refused, t)
		default:
			p.answers = append(p.answers, t)
		}
	}
}

// priceOf is what an accepted lead cost its buyer, by the supplier's word: what
// it is paid tells what was bid.
func (p *Picture) priceOf(t *told) (market.Money, bool) {
	if p.terms.auctioned(t.campaign) {
		return priceOf(t.said.Data.Price.Amount), true
	}
	return p.terms.price(t.campaign, t.said.Data.BuyerID)
}

// offered: what sellers were told of their pings, and of posts that were not
// sold, is in the log.
func (p *Picture) offered() (found findings) {
	promised := map[string]market.Money{}
	for _, t := range p.pings {
		promised[offerOf(t.key)] = t.bid
		a := p.book.asked[t.Request]
		switch {
		case a == nil:
			found.add("the answer to %s was given and is lost", t.key)
		case a.campaign != t.campaign || payout(a.best) != t.bid || a.reason != t.said.Data.Reason:
			found.add("%s of %s was told %v, %q, and by the log %s has %v, %q", t.key, t.campaign, t.bid, t.said.Data.Reason, a.campaign, payout(a.best), a.reason)
		}
	}
	found = append(found, p.chosen()...)
	for _, t := range p.answers {
		if bid := promised[offerOf(t.key)]; t.path == pathPost && (bid != t.said.Data.Price.Amount || !t.accepted()) {
			found.add("%s was promised %v, and told %s, %v", t.key, bid, t.said.Data.Status, t.said.Data.Price.Amount)
		}
	}
	for _, t := range p.refused {
		switch e := p.book.leads[p.book.requests[t.Request]]; {
		case e == nil:
			found.add("the refusal of %s was given and is lost", t.key)
		case e.buyer != "" || e.reason != t.said.Data.Reason && t.said.Data.Reason != "":
			found.add("%s was refused, %s, and lead %s is %s with %q, %s", t.key, t.said.Data.Reason, e.id, e.standing, e.buyer, e.reason)
		}
	}
	return found
}

// rivals tells whether more than one lead was posted at a bid.
func (p *Picture) rivals(offer string) bool {
	is := func(t *told) bool { return t.rival && offerOf(t.key) == offer }
	return slices.ContainsFunc(p.answers, is) || slices.ContainsFunc(p.refused, is) || slices.Contains(p.late, "post-"+offer+rivalMark)
}

// heard, at rest: every auction in the log is some seller's, and one whose post
// came too late was not sold.
func (p *Picture) heard() (found findings) {
	told, late := map[string]bool{}, map[string]bool{}
	for _, key := range p.late {
		late[key] = true
	}
	for _, t := range p.pings {
		told[t.Request] = true
		a := p.book.asked[t.Request]
		if a != nil && a.lead != nil && late["post-"+offerOf(t.key)] && !p.rivals(offerOf(t.key)) {
			found.add("%s was told that its bid is over, and lead %s is sold at it", t.key, a.lead.id)
		}
	}
	for _, t := range p.asks {
		told[t.Request] = true
	}
	for request, a := range p.book.asked {
		if !told[request] {
			found.add("the auction %s is in the log, and no seller knows of it", a.name)
		}
	}
	return found
}
