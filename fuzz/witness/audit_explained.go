package witness

import (
	"encoding/json"
	"strings"

	"pingpost/engine/market"
)

// explanation is what an operator is told of a lead, or of a ping.
type explanation struct {
	of   *told
	text string
}

// story is what of it is held against the log.
type story struct {
	Kind     string `json:"kind"`
	Lead     string `json:"lead_id"`
	Seller   string `json:"seller_id"`
	Request  string `json:"request_id"`
	Supplier string `json:"supplier_id"`
	Campaign string `json:"campaign_id"`
	Status   string `json:"status"`
	Delivery string `json:"delivery"`
	Reason   string `json:"reason"`
	Buyer    string `json:"buyer_id"`
	Test     bool   `json:"test"`
	Erased   bool   `json:"erased"`
	Answer   *struct {
		Status int    `json:"status"`
		Says   string `json:"says"`
		Reason string `json:"reason"`
	} `json:"answer"`
	Price  *sum `json:"price"`
	Payout *sum `json:"payout"`
	Offers []struct {
		Buyer  string `json:"buyer_id"`
		Payout *sum   `json:"payout"`
	} `json:"offers"`
	Leads []*story `json:"leads"`
}

type sum struct {
	Amount   market.Money `json:"amount"`
	Currency string       `json:"currency"`
}

// of is an amount; nothing where there is none.
func (s *sum) of() market.Money {
	if s == nil {
		return 0
	}
	return s.Amount
}

// narrated: what an operator is told of a lead and of a ping is what was answered, and
// what the log says; nobody's name is in it.
func (p *Picture) narrated() (found findings) {
	for _, x := range p.explained {
		var s story
		if err := json.Unmarshal([]byte(x.text), &s); err != nil {
			found.add("%s is explained by %s (%v)", x.of.key, x.text, err)
			continue
		}
		found = append(found, x.of.toldIn(x.of.key+" is explained", x.text)...)
		if s.Request != x.of.Request || s.Supplier != supplier || s.Campaign != x.of.campaign || s.Test != x.of.test {
			found.add("%s of %s, request %s, a test: %t, is explained as of %s, %s, %s, %t",
				x.of.key, x.of.campaign, x.of.Request, x.of.test, s.Supplier, s.Campaign, s.Request, s.Test)
		}
		if x.of.path == pathPing {
			found = append(found, p.toldOfPing(x, &s)...)
		} else if e := p.book.leads[x.of.said.Data.ID]; e != nil {
			found = append(found, p.toldOfLead(x, &s, e)...)
		}
	}
	return found
}

// toldOfLead: an explanation is read from the log and from memory, one after the other;
// so each of its words was true at some time since it was asked for.
func (p *Picture) toldOfLead(x *explanation, s *story, e *entry) (found findings) {
	views := e.since(p.since)
	for _, word := range []struct {
		what string
		is   func(v *view) bool
	}{
		{"status " + s.Status, func(v *view) bool { return s.Status == v.status }},
		{"delivery " + s.Delivery, func(v *view) bool { return s.Delivery == v.delivery || s.Delivery == "" && v.delivery == "none" }},
		{"buyer " + s.Buyer, func(v *view) bool { return s.Buyer == v.buyer }},
		{"price " + s.Price.of().String(), func(v *view) bool {
			return s.Price.of() == v.price && s.Payout.of() == payout(v.price)
		}},
		{"reason " + s.Reason, func(v *view) bool { return s.Reason == v.reason || v.status != "UNMATCHED" }},
	} {
		if !anyView(views, word.is) {
			found.add("lead %s is explained with the %s, and was %s", e.id, word.what, sayViews(views))
		}
	}
	if !anyView(views, func(v *view) bool { return s.Erased == v.erased }) {
		found.add("lead %s is explained as erased: %t, and it is so: %t", e.id, s.Erased, e.erased)
	}
	said := &x.of.said.Data
	if a := s.Answer; s.Lead != e.id || a != nil && x.of.path == "" && (a.Status != x.of.Status || a.Says != said.Status || a.Reason != said.Reason) {
		found.add("lead %s was answered %d %s, %s, and is explained as %s, answered %+v", e.id, x.of.Status, said.Status, said.Reason, s.Lead, a)
	}
	return found
}

// toldOfPing: the offer is the one that was answered, and was taken up by leads that the
// log says, or that were turned away.
func (p *Picture) toldOfPing(x *explanation, s *story) (found findings) {
	best := market.Money(0)
	if len(s.Offers) > 0 {
		best = s.Offers[0].Payout.of()
	}
	a := p.book.asked[x.of.Request]
	named := s.Seller == offerOf(x.of.key) || strings.HasPrefix(s.Seller, "(withheld") && p.erasedOf(a) // it may say who that was
	if s.Kind != "ping" || !named || best != x.of.bid || x.of.bid == 0 && s.Reason != x.of.said.Data.Reason {
		found.add("%s was told %v, %q, and is explained as %s of %s with %v, %q", x.of.key, x.of.bid, x.of.said.Data.Reason, s.Kind, s.Seller, best, s.Reason)
	}
	for _, lead := range s.Leads {
		e := p.book.leads[lead.Lead]
		if a == nil || e == nil || e.test != x.of.test || e.ping != a.name && (e.ping != "" || e.last != "") {
			found.add("lead %s is explained as one of %s, and by the log it is none", lead.Lead, x.of.key)
		}
	}
	return found
}

// erasedOf tells whether a person was erased whose lead came for a ping's bid.
func (p *Picture) erasedOf(a *auction) bool {
	for _, e := range p.book.leads {
		if a != nil && e.ping == a.name && e.erased {
			return true
		}
	}
	return false
}
