package witness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// forgot: of whom the exchange has said that nobody can know any more who he was, the log
// says so too.
func (p *Picture) forgot() (found findings) {
	for _, id := range p.forgotten {
		if e := p.book.leads[id]; e == nil || !e.erased {
			found.add("that lead %s was erased was acknowledged and is lost", id)
		}
	}
	return found
}

// erase enters that persons were erased: each once, by the slot of his lead, and none
// whose lead has yet to come to its buyer.
func (b *book) erase(f *fact) {
	if len(f.Leads) != len(f.Slots) {
		b.breach("%d leads are erased in %d slots", len(f.Leads), len(f.Slots))
		return
	}
	for i, id := range f.Leads {
		e := b.leads[id]
		switch {
		case e == nil:
			b.breach("lead %s is erased, and there is none", id)
			continue
		case e.erased:
			b.breach("lead %s is erased twice", id)
		case e.slot != f.Slots[i]:
			b.breach("lead %s is erased in slot %d, and is in slot %d", id, f.Slots[i], e.slot)
		case e.standing == open, e.standing == pending:
			b.breach("lead %s is erased on its way to %s", id, e.buyer)
		}
		e.erased = true
	}
}

// Of a key file.
const (
	keySize = 32
	perFile = 1 << 16
)

// keysAt holds the keys of leads in a data directory against the log: those of erased
// leads are gone, and no others. In a copy of an earlier time, too, all are gone that the
// newest log says of.
func (b *book) keysAt(dir string) (found findings) {
	files := map[uint64][]byte{}
	used := map[uint64]string{}
	for id, e := range b.leads {
		if other, twice := used[e.slot]; twice || e.slot == 0 {
			found.add("the leads %s and %s are both sealed in slot %d", id, other, e.slot)
			continue
		}
		used[e.slot] = id
		first := (e.slot-1)/perFile*perFile + 1
		keys, read := files[first]
		if !read {
			var err error
			if keys, err = os.ReadFile(filepath.Join(dir, "keys", "leads", fmt.Sprintf("%020d", first))); err != nil {
				found.add("the keys of leads cannot be read: %v", err)
			}
			files[first] = keys
		}
		at := (e.slot - first) * keySize
		if uint64(len(keys)) < at+keySize {
			found.add("there is no key of lead %s in %s", id, dir)
			continue
		}
		if gone := bytes.Equal(keys[at:at+keySize], make([]byte, keySize)); gone != e.erased {
			found.add("in %s the key of lead %s is gone: %t, and by the log it is erased: %t", dir, id, gone, e.erased)
		}
	}
	return found
}
