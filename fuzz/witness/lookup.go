package witness

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
)

// lookupPercent of the leads are followed by a lookup of an earlier lead.
const lookupPercent = 15

// Paths of lookups: with an API key and with a token.
const (
	pathSupplierLead  = "/api/v1/leads/"
	pathTokenLead     = "/v1/leads/"
	otherBuyerLookups = 4 // one of so many lookups comes from a random buyer
)

// leadLookup is an answered request for a lead's status.
type leadLookup struct {
	*clientRequest
	Response
	lead        *answeredRequest // the answer that named the lead
	buyer       string           // the requesting buyer; empty: the supplier
	reportCount int              // number of status reports acknowledged before the lookup
	sinceSeq    uint64           // log position before the lookup
}

// takeLookups returns the lookups since the last call, so each is checked once.
func (c *SupplierPool) takeLookups() []*leadLookup {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.lookups
	c.lookups = nil
	return all
}

// sendLookup looks up a lead as its supplier or a buyer. It returns false when the context ends.
func (c *SupplierPool) sendLookup(ctx context.Context, client *sellerClient, of *answeredRequest, random *rand.Rand) bool {
	one := c.newLookup(of, random)
	if one == nil {
		return true
	}
	var ok bool
	if one.Response, ok = client.send(ctx, one.clientRequest); ok {
		c.mu.Lock()
		c.lookups = append(c.lookups, one)
		c.mu.Unlock()
	}
	return ok
}

// newLookup returns a lookup of the answer's lead, or nil if the answer names none.
func (c *SupplierPool) newLookup(of *answeredRequest, random *rand.Rand) *leadLookup {
	lead := of.parsed.Data.ID
	if lead == "" || of.path == pathAvailability {
		return nil
	}
	one := &leadLookup{lead: of, clientRequest: &clientRequest{isLookup: true, path: pathSupplierLead + lead}, reportCount: c.statusReports.count()}
	buyer := of.parsed.Data.BuyerID
	if random.IntN(otherBuyerLookups) == 0 {
		buyer = c.config.buyers[random.IntN(len(c.config.buyers))].id
	}
	switch token := c.buyerTokens[buyer]; {
	case token != "" && random.IntN(2) == 0:
		one.buyer, one.clientRequest = buyer, &clientRequest{isLookup: true, path: pathTokenLead + lead, token: token}
	case c.token != "" && random.IntN(2) == 0:
		one.clientRequest = &clientRequest{isLookup: true, path: pathTokenLead + lead, token: c.token}
	}
	return one
}

// shownLead is a lead in the answer to a lookup.
type shownLead struct {
	ID           string          `json:"id"`
	Status       string          `json:"status"`
	Campaign     string          `json:"campaign_id"`
	SellerLeadID string          `json:"lead_uuid"`
	Auction      string          `json:"auction_id"`
	Buyer        string          `json:"buyer_id"`
	Reason       string          `json:"reason"`
	Delivery     string          `json:"delivery"`
	Return       string          `json:"return"`
	Test         bool            `json:"test"`
	Price        *currencyAmount `json:"price"`
}

func (l *leadLookup) parseShownLead() (s shownLead, err error) {
	if !strings.HasPrefix(l.path, pathSupplierLead) {
		err = json.Unmarshal([]byte(l.Body), &s)
		return s, err
	}
	var wrapped struct {
		Data shownLead `json:"data"`
	}
	err = json.Unmarshal([]byte(l.Body), &wrapped)
	return wrapped.Data, err
}

// matchesView reports whether the answer shows the view, to a buyer or to the supplier.
func (s *shownLead) matchesView(v *leadView, buyer bool) bool {
	amount := v.price
	if !buyer {
		amount = payout(amount)
	}
	priced := s.Price != nil
	return s.Status == v.status && s.Delivery == v.delivery && s.Buyer == v.buyer && s.Reason == v.reason && s.Return == string(v.returnState) &&
		priced == v.showsPrice() && (!priced || s.Price.Amount == amount && s.Price.Currency == "USD")
}

// checkLookups checks that each lookup shows a state that the lead had since the request, with
// the right price and without personal data. Other buyers must get 404.
func (p *Evidence) checkLookups() (found findings) {
	for _, l := range p.lookups {
		e := p.model.leads[l.lead.parsed.Data.ID]
		if e == nil {
			continue // checkLeadAnswers reports the lost lead
		}
		views := e.viewsSince(max(l.sinceSeq, e.firstDecidedSeq(), p.lastReportedSeq(e, l.reportCount)))
		if l.buyer != "" && l.Status == http.StatusNotFound {
			if !anyViewMatches(views, func(v *leadView) bool { return v.lookupBuyer != l.buyer }) {
				found.add("buyer %s looked up lead %s, which it has, and got 404", l.buyer, e.id)
			}
			continue
		}
		found = append(found, l.compareWithViews(e, views)...)
	}
	return found
}

// compareWithViews returns the findings of one lookup.
func (l *leadLookup) compareWithViews(e *modelLead, views []leadViewFrom) (found findings) {
	who := l.buyer
	if who == "" {
		who = "its supplier"
	}
	s, err := l.parseShownLead()
	if err != nil || l.Status != http.StatusOK {
		found.add("lead %s: lookup by %s returned %d %s (%v)", e.id, who, l.Status, l.Body, err)
		return found
	}
	if !anyViewMatches(views, func(v *leadView) bool {
		return s.matchesView(v, l.buyer != "") && (l.buyer == "" || v.lookupBuyer == l.buyer)
	}) {
		found.add("lead %s: lookup by %s returned %s; since the request it was %s", e.id, who, l.Body, formatLeadViews(views))
	}
	if s.ID != e.id || s.Campaign != e.campaign || s.Test != e.isTest {
		found.add("lead %s of campaign %s, test %t: lookup by %s returned %s", e.id, e.campaign, e.isTest, who, l.Body)
	}
	own, auction := "", ""
	if l.lead.path == pathPost && l.buyer == "" {
		own, auction = "of "+strings.TrimPrefix(l.lead.key, "post-"), auctionIDFromKey(l.lead.key)
	}
	if l.lead.path == pathPost && l.buyer == "" && s.Auction != auction || s.SellerLeadID != own {
		found.add("lead %s has lead_uuid %q and auction_id %q, but the lookup by %s returned %s", e.id, own, auction, who, l.Body)
	}
	return append(found, l.lead.findContactData("lead "+e.id+": lookup by "+who, l.Body)...)
}

// findContactData returns a finding if the text contains the person's phone or e-mail.
func (t *answeredRequest) findContactData(what, text string) (found findings) {
	if t.phone != "" && (strings.Contains(text, strings.TrimPrefix(t.phone, "+1")) || strings.Contains(text, t.email)) {
		found.add("%s: contains personal data: %s", what, text)
	}
	return found
}

// firstDecidedSeq returns the log position at which an answered lead was decided.
func (e *modelLead) firstDecidedSeq() uint64 {
	return e.firstSeqOfView(func(v *leadView) bool { return v.status != "OPEN" })
}

// lastReportedSeq returns the log position at which the lead had the last status of the first n
// acknowledged reports.
func (p *Evidence) lastReportedSeq(e *modelLead, reports int) (seq uint64) {
	for _, t := range p.statusReports[:min(reports, len(p.statusReports))] {
		for _, r := range t.statusReports {
			if r.Lead != e.id {
				continue
			}
			seq = max(seq, e.firstSeqOfView(func(v *leadView) bool {
				return v.status == r.Status || r.Return == "waiting" && v.returnState != noReturn
			}))
		}
	}
	return seq
}

func anyViewMatches(views []leadViewFrom, is func(v *leadView) bool) bool {
	for i := range views {
		if is(&views[i].leadView) {
			return true
		}
	}
	return false
}

func formatLeadViews(views []leadViewFrom) string {
	all := make([]string, len(views))
	for i := range views {
		all[i] = fmt.Sprintf("%+v", views[i])
	}
	return strings.Join(all, ", ")
}
