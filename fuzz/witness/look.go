package witness

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"

	"pingpost/engine/market"
)

// lookedShare of the permits, in percent, come with a look at a lead that was answered
// before, by its supplier or by a buyer.
const lookedShare = 15

// Where a lead can be looked at: with an API key, and with a token.
const (
	pathLook  = "/api/v1/leads/"
	pathSeen  = "/v1/leads/"
	whoseLook = 4 // of so many looks one is a buyer's that may not have the lead
)

// look is an answer to the question how a lead stands.
type look struct {
	*order
	Answer
	of      *told  // the lead
	buyer   string // who asks as one; empty: its supplier
	reports int    // that were acknowledged before it was asked
	since   uint64 // entry that was there before it was asked
}

// looks are all that were answered.
type looks struct {
	mu  sync.Mutex
	all []*look
}

func (l *looks) add(one *look) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, one)
}

// take hands the looks over, and begins anew: each is held against the log once.
func (l *looks) take() []*look {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}

// look asks how a lead stands, as one of those who may; false: the context has ended.
func (c *Crowd) look(ctx context.Context, call *caller, of *told, chance *rand.Rand) bool {
	one := c.lookAt(of, chance)
	if one == nil {
		return true
	}
	var ok bool
	if one.Answer, ok = call.send(ctx, one.order); ok {
		c.looks.add(one)
	}
	return ok
}

// lookAt makes up a look at a lead; nil: the answer was about none.
func (c *Crowd) lookAt(of *told, chance *rand.Rand) *look {
	lead := of.said.Data.ID
	if lead == "" || of.path == pathAsk {
		return nil
	}
	one := &look{of: of, order: &order{look: true, path: pathLook + lead}, reports: c.reports.count()}
	buyer := of.said.Data.BuyerID
	if chance.IntN(whoseLook) == 0 {
		buyer = c.terms.buyers[chance.IntN(len(c.terms.buyers))].id
	}
	switch token := c.reporters[buyer]; {
	case token != "" && chance.IntN(2) == 0:
		one.buyer, one.order = buyer, &order{look: true, path: pathSeen + lead, token: token}
	case c.token != "" && chance.IntN(2) == 0:
		one.order = &order{look: true, path: pathSeen + lead, token: c.token}
	}
	return one
}

// sight is a lead as a look shows it.
type sight struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Campaign string `json:"campaign_id"`
	Own      string `json:"lead_uuid"`
	Auction  string `json:"auction_id"`
	Buyer    string `json:"buyer_id"`
	Reason   string `json:"reason"`
	Delivery string `json:"delivery"`
	Return   string `json:"return"`
	Test     bool   `json:"test"`
	Price    *struct {
		Amount   market.Money `json:"amount"`
		Currency string       `json:"currency"`
	} `json:"price"`
}

func (l *look) read() (s sight, err error) {
	if !strings.HasPrefix(l.path, pathLook) {
		err = json.Unmarshal([]byte(l.Text), &s)
		return s, err
	}
	var wrapped struct {
		Data sight `json:"data"`
	}
	err = json.Unmarshal([]byte(l.Text), &wrapped)
	return wrapped.Data, err
}

// like tells whether a view is shown so to a buyer, or to the supplier.
func (s *sight) like(v *view, buyer bool) bool {
	amount := v.price
	if !buyer {
		amount = payout(amount)
	}
	priced := s.Price != nil
	return s.Status == v.status && s.Delivery == v.delivery && s.Buyer == v.buyer && s.Reason == v.reason && s.Return == string(v.back) &&
		priced == v.priced() && (!priced || s.Price.Amount == amount && s.Price.Currency == "USD")
}

// looked: whoever looked at a lead saw it as it stood then, or later: at its own price, and
// nothing of who it is. Others saw nothing.
func (p *Picture) looked() (found findings) {
	for _, l := range p.looks {
		e := p.book.leads[l.of.said.Data.ID]
		if e == nil {
			continue // it is lost, which others tell
		}
		views := e.since(max(l.since, e.known(), p.reportedBy(e, l.reports)))
		if l.buyer != "" && l.Status == http.StatusNotFound {
			if !anyView(views, func(v *view) bool { return v.owner != l.buyer }) {
				found.add("%s looked at lead %s, which it has, and was told that there is none", l.buyer, e.id)
			}
			continue
		}
		found = append(found, l.held(e, views)...)
	}
	return found
}

// held is what is wrong with what was shown.
func (l *look) held(e *entry, views []viewAt) (found findings) {
	who := l.buyer
	if who == "" {
		who = "its supplier"
	}
	s, err := l.read()
	if err != nil || l.Status != http.StatusOK {
		found.add("lead %s was shown to %s as %d %s (%v)", e.id, who, l.Status, l.Text, err)
		return found
	}
	if !anyView(views, func(v *view) bool { return s.like(v, l.buyer != "") && (l.buyer == "" || v.owner == l.buyer) }) {
		found.add("lead %s was shown to %s as %s, and was %s", e.id, who, l.Text, sayViews(views))
	}
	if s.ID != e.id || s.Campaign != e.campaign || s.Test != e.test {
		found.add("lead %s of %s, a test: %t, was shown to %s as %s", e.id, e.campaign, e.test, who, l.Text)
	}
	own, auction := "", ""
	if l.of.path == pathPost && l.buyer == "" {
		own, auction = "of "+strings.TrimPrefix(l.of.key, "post-"), offerOf(l.of.key)
	}
	if l.of.path == pathPost && l.buyer == "" && s.Auction != auction || s.Own != own {
		found.add("lead %s is %q in %q, by its seller's own word, and was shown to %s as %s", e.id, own, auction, who, l.Text)
	}
	return append(found, l.of.toldIn("lead "+e.id+" was shown to "+who, l.Text)...)
}

// toldIn finds a person in a text that is to be without.
func (t *told) toldIn(what, text string) (found findings) {
	if t.phone != "" && (strings.Contains(text, strings.TrimPrefix(t.phone, "+1")) || strings.Contains(text, t.email)) {
		found.add("%s with who it is: %s", what, text)
	}
	return found
}

// known is the entry by which a lead that is answered was decided.
func (e *entry) known() uint64 { return e.first(func(v *view) bool { return v.status != "OPEN" }) }

// reportedBy is the entry by which a lead had come as far as the first so many reports
// have told.
func (p *Picture) reportedBy(e *entry, reports int) (seq uint64) {
	for _, t := range p.reports[:min(reports, len(p.reports))] {
		for _, r := range t.reports {
			if r.Lead != e.id {
				continue
			}
			seq = max(seq, e.first(func(v *view) bool { return v.status == r.Status || r.Return == "waiting" && v.back != never }))
		}
	}
	return seq
}

func anyView(views []viewAt, is func(v *view) bool) bool {
	for i := range views {
		if is(&views[i].view) {
			return true
		}
	}
	return false
}

func sayViews(views []viewAt) string {
	all := make([]string, len(views))
	for i := range views {
		all[i] = fmt.Sprintf("%+v", views[i])
	}
	return strings.Join(all, ", ")
}
