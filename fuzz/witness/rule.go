//go:build unix

package witness

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"pingpost/engine/market"
)

// Rule has the operator say a word on every lead of which nobody knows whether its
// buyer has it: what the buyer says, or that it is to be tried again.
func (s *Scene) Rule(chance *rand.Rand) {
	s.t.Helper()
	unknown, _ := s.deliveries()
	if len(unknown) == 0 {
		return
	}
	held := map[string]bool{}
	for _, leads := range s.buyers.leads() {
		for _, lead := range leads {
			held[lead.LeadUUID] = true
		}
	}
	for _, lead := range unknown {
		r := ruling{lead, "released"}
		switch {
		case chance.IntN(3) == 0:
			r.settlement = "resent"
		case held[lead]:
			r.settlement = "confirmed"
		}
		verb := map[string]string{"released": "release", "resent": "resend", "confirmed": "confirm"}[r.settlement]
		status, _, err := s.Operate("POST", "/admin/v1/deliveries/"+lead+"/"+verb, "")
		if err == nil && status < http.StatusMultipleChoices {
			s.ruled = append(s.ruled, r)
		}
	}
}

// Quiet is Idle, with an operator at hand: a seller that asks what became of a post
// whose end nobody knows is told to ask again until there is a word on it.
func (s *Scene) Quiet(chance *rand.Rand) {
	s.t.Helper()
	looked := time.Now()
	Await(s.t, "every lead is answered", func() bool {
		if end := s.Ended(); end != "" {
			s.t.Fatal(end)
		}
		if time.Since(looked) > time.Second {
			s.Rule(chance)
			looked = time.Now()
		}
		return s.Crowd.IsIdle()
	})
	s.Idle()
}

// Conclude waits until all deliveries have come to their end, and the operator has
// said a word on those whose end nobody knows.
func (s *Scene) Conclude(chance *rand.Rand) {
	s.t.Helper()
	for {
		s.Quiet(chance)
		s.Rest(chance)
		if unknown, _ := s.deliveries(); len(unknown) == 0 {
			return
		}
		s.Rule(chance)
	}
}

// Decide has the operator say a word on about half of the returns that wait.
func (s *Scene) Decide(chance *rand.Rand) {
	s.t.Helper()
	var all struct {
		Returns []struct {
			Lead string `json:"lead_id"`
		} `json:"returns"`
	}
	s.Ask("/admin/v1/returns", &all)
	for _, r := range all.Returns {
		if chance.IntN(2) == 0 {
			continue
		}
		word, body := ruling{r.Lead, "return refused"}, object{"approve": false}
		if chance.IntN(3) > 0 {
			word, body = ruling{r.Lead, "return approved"}, object{"approve": true}
		}
		status, _, err := s.Operate("POST", "/admin/v1/returns/"+r.Lead, string(encode(body)))
		if err == nil && status < http.StatusMultipleChoices {
			s.ruled = append(s.ruled, word)
		}
	}
}

// asked is how a return stands that waits for the operator, or has waited.
type asked string

const (
	never    asked = ""
	waiting  asked = "waiting"
	approved asked = "approved"
	refused  asked = "refused"
)

// further is what a lead may still become: nothing while a return of it waits, and no
// return once one was refused.
func (e *entry) further() []string {
	all := after(e.became)
	switch {
	case e.asked == waiting:
		return nil
	case e.asked == refused && len(all) > 0:
		return all[:len(all)-1]
	}
	return all
}

func (b *book) manual(e *entry) bool {
	c := b.terms.campaign(e.campaign)
	return c != nil && c.manual
}

// decreeReturn enters the operator's word on a return that waits.
func (b *book) decreeReturn(e *entry, approve bool, credit, reverse market.Money) {
	if e.asked != waiting {
		b.breach("the operator decides a return of lead %s, of which none waits (%s)", e.id, e.asked)
		return
	}
	if e.asked = refused; approve {
		e.asked, e.became = approved, append(e.became, "returned")
		b.back(e, credit, reverse)
	} else if credit != 0 || reverse != 0 {
		b.breach("the return of lead %s is refused, and %v and %v are given back", e.id, credit, reverse)
	}
	b.ruled[ruling{e.id, "return " + string(e.asked)}] = true
}

// ruling is the operator's word on a lead: confirmed, released or resent.
type ruling struct{ lead, settlement string }

// decreed: every word of the operator that was acknowledged is in the log.
func (p *Picture) decreed() (found findings) {
	for _, r := range p.ruled {
		if !p.book.ruled[r] {
			found.add("that lead %s was %s by the operator was acknowledged and is lost", r.lead, r.settlement)
		}
	}
	return found
}

// pathAsk is where a supplier asks who would buy.
const pathAsk = "/api/v1/ping"

// choiceShare of the other permits, in percent, is used for such a question and an
// ingest for one of the buyers, where the terms have all kinds of requests.
const choiceShare = 25

// choose asks, and sends the lead to one of those that would buy.
func (c *Crowd) choose(ctx context.Context, call *caller, name string, chance *rand.Rand) bool {
	lead := c.order("choice-"+name, chance, (*campaignTerms).auctions)
	lead.test = c.isTest(chance)
	ask := &order{path: pathAsk, key: "ask-" + name, campaign: lead.campaign, test: lead.test, body: encode(object{
		"flo_campaign_id": lead.campaign, "flo_supplier_id": supplier, "state": "CA",
	})}
	a, ok := call.send(ctx, ask)
	if !ok {
		return false
	}
	heard := c.ledger.enter(ask, a)
	if heard == nil || len(heard.offers) == 0 {
		return true
	}
	buyers := slices.Sorted(maps.Keys(heard.offers))
	lead.chosen = buyers[chance.IntN(len(buyers))]
	lead.promised = heard.offers[lead.chosen]
	body := lead.person()
	body["flo_ping_id"], body["flo_buyer_id"] = heard.said.Data.ID, lead.chosen
	lead.body = encode(body)
	if a, ok = call.send(ctx, lead); ok {
		c.ledger.enter(lead, a)
	}
	return ok
}

// readOffers reads who would buy, and at which payout.
func (t *told) readOffers() error {
	var said struct {
		Data struct {
			Ping     string `json:"ping_id"`
			Accepted bool   `json:"accepted"`
			Buyers   []struct {
				Buyer  string       `json:"buyer_id"`
				Amount market.Money `json:"amount"`
			} `json:"buyers"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(t.Text), &said); err != nil {
		return err
	}
	if said.Data.Ping == "" || said.Data.Accepted != (len(said.Data.Buyers) > 0) {
		return errors.New("neither buyers nor a word that there are none")
	}
	t.said.Data.ID, t.offers = said.Data.Ping, bids{}
	for _, b := range said.Data.Buyers {
		t.offers[b.Buyer] = b.Amount
	}
	return nil
}

// chosen: who a supplier was told would buy is in the log, at that payout, and a
// lead that was sent to one of them is with that one, or with nobody.
func (p *Picture) chosen() (found findings) {
	for _, t := range p.asks {
		a := p.book.asked[t.Request]
		if a == nil {
			found.add("the answer to %s was given and is lost", t.key)
			continue
		}
		logged := bids{}
		for buyer, amount := range a.bids {
			logged[buyer] = payout(amount)
		}
		if a.campaign != t.campaign || !maps.Equal(logged, t.offers) {
			found.add("%s of %s was told the buyers %v, and by the log %s has %v", t.key, t.campaign, t.offers, a.campaign, logged)
		}
	}
	for _, t := range p.answers {
		if said := &t.said.Data; t.chosen != "" && t.accepted() && (said.BuyerID != t.chosen || said.Price.Amount != t.promised) {
			found.add("%s chose %s at %v, and was told %s at %v", t.key, t.chosen, t.promised, said.BuyerID, said.Price.Amount)
		}
	}
	return found
}
