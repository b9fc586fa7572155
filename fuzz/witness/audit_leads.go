package witness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pingpost/engine/market"
)

// answerExplanation is the admin API's explanation of a lead or a ping.
type answerExplanation struct {
	request *answeredRequest
	text    string
}

// explainedLead holds the members of an explanation that the audit checks.
type explainedLead struct {
	Kind      string `json:"kind"`
	Lead      string `json:"lead_id"`
	AuctionID string `json:"seller_id"`
	Request   string `json:"request_id"`
	Supplier  string `json:"supplier_id"`
	Campaign  string `json:"campaign_id"`
	Status    string `json:"status"`
	Delivery  string `json:"delivery"`
	Reason    string `json:"reason"`
	Buyer     string `json:"buyer_id"`
	Test      bool   `json:"test"`
	Erased    bool   `json:"erased"`
	Answer    *struct {
		Status int    `json:"status"`
		Says   string `json:"says"`
		Reason string `json:"reason"`
	} `json:"answer"`
	Price  currencyAmount `json:"price"`
	Payout currencyAmount `json:"payout"`
	Offers []struct {
		Payout currencyAmount `json:"payout"`
	} `json:"offers"`
	Leads []*explainedLead `json:"leads"`
}

type currencyAmount struct {
	Amount   market.Money `json:"amount"`
	Currency string       `json:"currency"`
}

// checkExplanations checks that explanations match the suppliers' answers and the log, and
// contain no personal data.
func (p *Evidence) checkExplanations() (found findings) {
	for _, x := range p.explanations {
		var s explainedLead
		if err := json.Unmarshal([]byte(x.text), &s); err != nil {
			found.add("%s: the explanation is not JSON: %s (%v)", x.request.key, x.text, err)
			continue
		}
		found = append(found, x.request.findContactData(x.request.key+": explanation", x.text)...)
		if s.Request != x.request.RequestID || s.Supplier != SupplierID || s.Campaign != x.request.campaign || s.Test != x.request.isTest {
			found.add("%s: expected campaign %s, request %s, test %t; the explanation has supplier %s, campaign %s, request %s, test %t",
				x.request.key, x.request.campaign, x.request.RequestID, x.request.isTest, s.Supplier, s.Campaign, s.Request, s.Test)
		}
		if x.request.path == pathPing {
			found = append(found, p.checkPingExplanation(x, &s)...)
		} else if e := p.model.leads[x.request.parsed.Data.ID]; e != nil {
			found = append(found, p.checkLeadExplanation(x, &s, e)...)
		}
	}
	return found
}

// checkLeadExplanation checks each member alone: the exchange reads the log and its memory one
// after the other. Each member must have been true at some moment since the request.
func (p *Evidence) checkLeadExplanation(x *answerExplanation, s *explainedLead, e *modelLead) (found findings) {
	views := e.viewsSince(p.sinceSeq)
	for _, word := range []struct {
		what string
		is   func(v *leadView) bool
	}{
		{"status " + s.Status, func(v *leadView) bool { return s.Status == v.status }},
		{"delivery " + s.Delivery, func(v *leadView) bool { return s.Delivery == v.delivery || s.Delivery == "" && v.delivery == "none" }},
		{"buyer " + s.Buyer, func(v *leadView) bool { return s.Buyer == v.buyer }},
		{"price " + s.Price.Amount.String(), func(v *leadView) bool {
			return s.Price.Amount == v.price && s.Payout.Amount == payout(v.price)
		}},
		{"reason " + s.Reason, func(v *leadView) bool { return s.Reason == v.reason || v.status != "UNMATCHED" }},
	} {
		if !anyViewMatches(views, word.is) {
			found.add("lead %s: the explanation shows %s; since the request it was %s", e.id, word.what, formatLeadViews(views))
		}
	}
	if !anyViewMatches(views, func(v *leadView) bool { return s.Erased == v.erased }) {
		found.add("lead %s: the explanation shows erased %t, the log %t", e.id, s.Erased, e.erased)
	}
	said := &x.request.parsed.Data
	if a := s.Answer; s.Lead != e.id || a != nil && x.request.path == "" && (a.Status != x.request.Status || a.Says != said.Status || a.Reason != said.Reason) {
		found.add("lead %s: answered %d %s, %s; the explanation has lead %s, answer %+v", e.id, x.request.Status, said.Status, said.Reason, s.Lead, a)
	}
	return found
}

// checkPingExplanation checks that the explained offer is the answered one. The explained leads
// must be sold or rejected at this ping's bid in the log.
func (p *Evidence) checkPingExplanation(x *answerExplanation, s *explainedLead) (found findings) {
	best := market.Money(0)
	if len(s.Offers) > 0 {
		best = s.Offers[0].Payout.Amount
	}
	a := p.model.auctionByRequest[x.request.RequestID]
	named := s.AuctionID == auctionIDFromKey(x.request.key) || strings.HasPrefix(s.AuctionID, "(withheld") && p.hasErasedLead(a) // the auction id may identify an erased person, so the exchange may withhold it
	if s.Kind != "ping" || !named || best != x.request.bid || x.request.bid == 0 && s.Reason != x.request.parsed.Data.Reason {
		found.add("%s: answered with bid %v, reason %q; the explanation has %s %s with bid %v, reason %q", x.request.key, x.request.bid, x.request.parsed.Data.Reason, s.Kind, s.AuctionID, best, s.Reason)
	}
	for _, lead := range s.Leads {
		e := p.model.leads[lead.Lead]
		if a == nil || e == nil || e.isTest != x.request.isTest || e.auctionName != a.name && (e.auctionName != "" || e.lastBuyer != "") {
			found.add("lead %s: the explanation lists it under %s, the log does not", lead.Lead, x.request.key)
		}
	}
	return found
}

// hasErasedLead reports whether the lead that used the auction's bid is erased.
func (p *Evidence) hasErasedLead(a *modelAuction) bool {
	for _, e := range p.model.leads {
		if a != nil && e.auctionName == a.name && e.erased {
			return true
		}
	}
	return false
}

// splitAnswersByKind divides the suppliers' answers by kind.
func (p *Evidence) splitAnswersByKind(answers []*answeredRequest, expiredPosts []string) {
	p.expiredPosts = expiredPosts
	for _, t := range answers {
		switch {
		case t.path == pathPing:
			p.pings = append(p.pings, t)
		case t.path == pathAvailability:
			p.availabilities = append(p.availabilities, t)
		case t.postRejected:
			p.rejectedPosts = append(p.rejectedPosts, t)
		default:
			p.answers = append(p.answers, t)
		}
	}
}

// priceFromAnswer returns the price that the buyer of an accepted lead pays, by the supplier's
// answer. In an auction it follows from the payout.
func (p *Evidence) priceFromAnswer(t *answeredRequest) (market.Money, bool) {
	if p.config.isAuction(t.campaign) {
		return priceForPayout(t.parsed.Data.Price.Amount), true
	}
	return p.config.fixedPrice(t.campaign, t.parsed.Data.BuyerID)
}

// checkAuctionAnswers checks that the log holds the answers to pings and the rejections of
// posts.
func (p *Evidence) checkAuctionAnswers() (found findings) {
	promised := map[string]market.Money{}
	for _, t := range p.pings {
		promised[auctionIDFromKey(t.key)] = t.bid
		a := p.model.auctionByRequest[t.RequestID]
		switch {
		case a == nil:
			found.add("%s was answered, but its auction is not in the log", t.key)
		case a.campaign != t.campaign || payout(a.bestBid) != t.bid || a.reason != t.parsed.Data.Reason:
			found.add("%s of campaign %s: answered with bid %v, reason %q; the log has campaign %s, bid %v, reason %q", t.key, t.campaign, t.bid, t.parsed.Data.Reason, a.campaign, payout(a.bestBid), a.reason)
		}
	}
	for _, t := range p.answers {
		if bid := promised[auctionIDFromKey(t.key)]; t.path == pathPost && (bid != t.parsed.Data.Price.Amount || !t.isAccepted()) {
			found.add("%s: the bid promised %v, but the answer is %s with %v", t.key, bid, t.parsed.Data.Status, t.parsed.Data.Price.Amount)
		}
	}
	for _, t := range p.rejectedPosts {
		switch e := p.model.leads[p.model.leadByRequest[t.RequestID]]; {
		case e == nil:
			found.add("%s was rejected, but its lead is not in the log", t.key)
		case e.buyer != "" || e.reason != t.parsed.Data.Reason && t.parsed.Data.Reason != "":
			found.add("%s: rejected with %s, but in the log lead %s is %s with buyer %q, reason %s", t.key, t.parsed.Data.Reason, e.id, e.state, e.buyer, e.reason)
		}
	}
	return found
}

// checkChosenBuyers checks that the log holds each availability answer with its payouts. An
// accepted ingest for a chosen buyer must be sold to that buyer at the offered payout.
func (p *Evidence) checkChosenBuyers() (found findings) {
	for _, t := range p.availabilities {
		a := p.model.auctionByRequest[t.RequestID]
		if a == nil {
			found.add("%s was answered, but its auction is not in the log", t.key)
			continue
		}
		logged := bidsByBuyer{}
		for buyer, amount := range a.bids {
			logged[buyer] = payout(amount)
		}
		if a.campaign != t.campaign || !maps.Equal(logged, t.offers) {
			found.add("%s of campaign %s: answered with the buyers %v; the log has campaign %s with %v", t.key, t.campaign, t.offers, a.campaign, logged)
		}
	}
	for _, t := range p.answers {
		if said := &t.parsed.Data; t.chosenBuyer != "" && t.isAccepted() && (said.BuyerID != t.chosenBuyer || said.Price.Amount != t.chosenPayout) {
			found.add("%s chose buyer %s at %v, but the answer is %s at %v", t.key, t.chosenBuyer, t.chosenPayout, said.BuyerID, said.Price.Amount)
		}
	}
	return found
}

// receivedTwoPosts reports whether two leads were posted with the auction's bid.
func (p *Evidence) receivedTwoPosts(auctionID string) bool {
	is := func(t *answeredRequest) bool { return t.hasRival && auctionIDFromKey(t.key) == auctionID }
	return slices.ContainsFunc(p.answers, is) || slices.ContainsFunc(p.rejectedPosts, is) || slices.Contains(p.expiredPosts, "post-"+auctionID+rivalMark)
}

// checkAuctionsRequested checks, when idle, that each auction in the log belongs to a ping or
// an availability request. A bid whose post came too late must be unsold.
func (p *Evidence) checkAuctionsRequested() (found findings) {
	answered, late := map[string]bool{}, map[string]bool{}
	for _, key := range p.expiredPosts {
		late[key] = true
	}
	for _, t := range p.pings {
		answered[t.RequestID] = true
		a := p.model.auctionByRequest[t.RequestID]
		if a != nil && a.lead != nil && late["post-"+auctionIDFromKey(t.key)] && !p.receivedTwoPosts(auctionIDFromKey(t.key)) {
			found.add("%s: its post was answered bid_expired, but lead %s is sold at this bid", t.key, a.lead.id)
		}
	}
	for _, t := range p.availabilities {
		answered[t.RequestID] = true
	}
	for request, a := range p.model.auctionByRequest {
		if !answered[request] {
			found.add("auction %s is in the log, but no supplier requested it", a.name)
		}
	}
	return found
}

// applyErasure marks leads as erased. Each lead is erased once, by its own key slot, and not
// while its delivery is open.
func (b *logModel) applyErasure(f *eventFields) {
	if len(f.Leads) != len(f.Slots) {
		b.addViolation("an erasure has %d leads and %d key slots", len(f.Leads), len(f.Slots))
		return
	}
	for i, id := range f.Leads {
		e := b.leads[id]
		switch {
		case e == nil:
			b.addViolation("lead %s is erased, but does not exist", id)
			continue
		case e.erased:
			b.addViolation("lead %s is erased twice", id)
		case e.slot != f.Slots[i]:
			b.addViolation("lead %s is erased with key slot %d, but has slot %d", id, f.Slots[i], e.slot)
		case e.state == stateOpen, e.state == statePending:
			b.addViolation("lead %s is erased during its delivery to %s", id, e.buyer)
		}
		e.erased = true
		b.actions[operatorAction{"erasure of lead", id}]++
	}
}

// Layout of a key file.
const (
	keySize = 32
	perFile = 1 << 16
)

// checkLeadKeys compares the lead keys in a data directory with the log. The keys of erased leads
// must be gone, and all other keys must be present. A restored older copy must also lack the
// keys of leads that were erased later.
func (b *logModel) checkLeadKeys(dir string) (found findings) {
	files := map[uint64][]byte{}
	used := map[uint64]string{}
	for id, e := range b.leads {
		if other, twice := used[e.slot]; twice || e.slot == 0 {
			found.add("leads %s and %s share the key slot %d", id, other, e.slot)
			continue
		}
		used[e.slot] = id
		first := (e.slot-1)/perFile*perFile + 1
		keys, read := files[first]
		if !read {
			var err error
			if keys, err = os.ReadFile(filepath.Join(dir, "keys", "leads", fmt.Sprintf("%020d", first))); err != nil {
				found.add("cannot read the lead keys: %v", err)
			}
			files[first] = keys
		}
		at := (e.slot - first) * keySize
		if uint64(len(keys)) < at+keySize {
			found.add("lead %s has no key in %s", id, dir)
			continue
		}
		if gone := bytes.Equal(keys[at:at+keySize], make([]byte, keySize)); gone != e.erased {
			found.add("%s: the key of lead %s is deleted: %t; the log erased the lead: %t", dir, id, gone, e.erased)
		}
	}
	return found
}
