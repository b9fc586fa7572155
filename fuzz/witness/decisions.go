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

// ResolveDeliveries decides every unconfirmed delivery as the operator. It confirms leads that
// the buyer holds, releases the others, and resends a third of all.
func (s *Harness) ResolveDeliveries(random *rand.Rand) {
	s.t.Helper()
	unknown, _ := s.openDeliveries()
	if len(unknown) == 0 {
		return
	}
	leads, _ := s.buyers.readAccounts(s.t)
	holders := endpointsByLead(leads)
	for _, lead := range unknown {
		verb, outcome := "release", "released"
		switch {
		case random.IntN(3) == 0:
			verb, outcome = "resend", "resent"
		case holders[lead] != "":
			verb, outcome = "confirm", "confirmed"
		}
		s.requestAction(operatorAction{"delivery " + outcome + ", lead", lead}, "/admin/v1/deliveries/"+lead+"/"+verb, "")
	}
}

// AwaitAnswers waits until no request is in flight, and resolves unconfirmed deliveries: the
// exchange asks a supplier that repeats such a post to retry until the operator decides. The
// idle exchange must hold no reservation.
func (s *Harness) AwaitAnswers(random *rand.Rand) {
	s.t.Helper()
	looked := time.Now()
	s.AwaitWhileRunning("every lead is answered", func() bool {
		if time.Since(looked) > time.Second {
			s.ResolveDeliveries(random)
			looked = time.Now()
		}
		return s.Suppliers.IsIdle()
	})
	if left := s.Metric("pingpost_reservations"); left != "0" {
		s.t.Errorf("the idle exchange holds %s reservations, expected 0", left)
	}
}

// SettleDeliveries waits until all deliveries are settled, and then repeats every request. It
// resolves unconfirmed deliveries as the operator.
func (s *Harness) SettleDeliveries(random *rand.Rand) {
	s.t.Helper()
	s.AwaitAnswers(random)
	s.AwaitWhileRunning("every delivery is settled", func() bool {
		s.ResolveDeliveries(random)
		_, open := s.openDeliveries()
		return open == 0 && s.Metric("pingpost_open_deliveries") == "0"
	})
	s.Suppliers.RepeatRequests(0, random)
	s.AwaitAnswers(random)
}

// DecideReturns approves or refuses about half of the pending returns.
func (s *Harness) DecideReturns(random *rand.Rand) {
	s.t.Helper()
	var all openList
	s.AdminGet("/admin/v1/returns", &all)
	for _, r := range all.Returns {
		if random.IntN(2) == 0 {
			continue
		}
		approve, outcome := random.IntN(3) > 0, returnRefused
		if approve {
			outcome = returnApproved
		}
		s.requestAction(operatorAction{"return " + string(outcome) + ", lead", r.Lead}, "/admin/v1/returns/"+r.Lead, string(Encode(Object{"approve": approve})))
	}
}

// returnState is the state of a return that needs approval.
type returnState string

const (
	noReturn       returnState = ""
	returnWaiting  returnState = "waiting"
	returnApproved returnState = "approved"
	returnRefused  returnState = "refused"
)

// allowedStatuses returns the statuses that a lead may take next: none while a return is
// pending, and no return after a refused one.
func (e *modelLead) allowedStatuses() []string {
	all := statusesAfter(e.statuses)
	switch {
	case e.returnState == returnWaiting:
		return nil
	case e.returnState == returnRefused && len(all) > 0:
		return all[:len(all)-1]
	}
	return all
}

func (b *logModel) returnNeedsApproval(e *modelLead) bool {
	c := b.config.campaignByID(e.campaign)
	return c != nil && c.manualReturns
}

// applyReturnDecision applies the operator's decision on a pending return.
func (b *logModel) applyReturnDecision(e *modelLead, approve bool, credit, reverse market.Money) {
	if e.returnState != returnWaiting {
		b.addViolation("lead %s: the operator decides a return, but none is pending (%s)", e.id, e.returnState)
		return
	}
	if e.returnState = returnRefused; approve {
		e.returnState, e.statuses = returnApproved, append(e.statuses, "returned")
		b.applyReturn(e, credit, reverse)
	} else if credit != 0 || reverse != 0 {
		b.addViolation("lead %s: its return is refused, but credit %v and reversal %v are booked", e.id, credit, reverse)
	}
	b.actions[operatorAction{"return " + string(e.returnState) + ", lead", e.id}]++
}

// operatorAction is a top-up, an erasure, or a decision on a lead's delivery or return.
type operatorAction struct{ kind, object string }

// requestAction posts the request for an action, and records the action if the exchange
// acknowledges it.
func (s *Harness) requestAction(action operatorAction, path, body string) {
	status, _, err := s.AdminRequest("POST", path, body)
	if err == nil && status < http.StatusMultipleChoices {
		s.recordAction(action)
	}
}

func (s *Harness) recordAction(action operatorAction) {
	s.actionsMu.Lock()
	defer s.actionsMu.Unlock()
	s.acknowledged = append(s.acknowledged, action)
}

// checkAcknowledged checks that the log holds each acknowledged action of the operator.
func (p *Evidence) checkAcknowledged() (found findings) {
	for _, action := range p.acknowledged {
		if p.model.actions[action] == 0 {
			found.add("%s %s was acknowledged, but is not in the log", action.kind, action.object)
		}
	}
	return found
}

// pathAvailability is the path of availability requests.
const pathAvailability = "/api/v1/ping"

// choicePercent of the other leads send an availability request and then an ingest for one of
// the offered buyers. This applies to full configurations only.
const choicePercent = 25

// askAndIngest sends an availability request, and then the lead for one of the offered buyers.
func (c *SupplierPool) askAndIngest(ctx context.Context, client *sellerClient, name string, random *rand.Rand) bool {
	lead := c.newIngest("choice-"+name, random, (*campaignConfig).isAuction)
	lead.isTest = drawIsTest(random)
	ask := &clientRequest{path: pathAvailability, key: "ask-" + name, campaign: lead.campaign, isTest: lead.isTest, body: Encode(Object{
		"flo_campaign_id": lead.campaign, "flo_supplier_id": SupplierID, "state": "CA",
	})}
	a, ok := client.send(ctx, ask)
	if !ok {
		return false
	}
	answer := c.answers.add(ask, a)
	if answer == nil || len(answer.offers) == 0 {
		return true
	}
	buyers := slices.Sorted(maps.Keys(answer.offers))
	lead.chosenBuyer = buyers[random.IntN(len(buyers))]
	lead.chosenPayout = answer.offers[lead.chosenBuyer]
	body := lead.ingestBody()
	body["flo_ping_id"], body["flo_buyer_id"] = answer.parsed.Data.ID, lead.chosenBuyer
	lead.body = Encode(body)
	if a, ok = client.send(ctx, lead); ok {
		c.answers.add(lead, a)
	}
	return ok
}

// parseAvailabilityAnswer parses the offered buyers and payouts.
func (t *answeredRequest) parseAvailabilityAnswer() error {
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
	if err := json.Unmarshal([]byte(t.Body), &said); err != nil {
		return err
	}
	if said.Data.Ping == "" || said.Data.Accepted != (len(said.Data.Buyers) > 0) {
		return errors.New("the answer has no ping_id, or accepted contradicts the list of buyers")
	}
	t.parsed.Data.ID, t.offers = said.Data.Ping, bidsByBuyer{}
	for _, b := range said.Data.Buyers {
		t.offers[b.Buyer] = b.Amount
	}
	return nil
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
