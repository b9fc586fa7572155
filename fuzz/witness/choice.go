package witness

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"

	"pingpost/engine/market"
)

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
