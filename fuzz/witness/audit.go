package witness

import (
	"bytes"
	"fmt"
	"slices"

	"pingpost/engine/market"
	"pingpost/loadtest/refbuyer"
	"pingpost/loadtest/refreceiver"
)

// Evidence holds the observations of all sources at about one time. The harness collects them
// in the order of the fields: sources that learn of a lead first are read first. A later source
// must therefore know everything that an earlier one knows.
type Evidence struct {
	config           *Config
	answers          []*answeredRequest         // suppliers: accepted or unsold leads with an id
	pings            []*answeredRequest         // suppliers: answers to pings
	availabilities   []*answeredRequest         // suppliers: answers to availability requests
	rejectedPosts    []*answeredRequest         // suppliers: posts that were not sold
	expiredPosts     []string                   // suppliers: keys of posts whose bid had expired
	statusReports    []*answeredRequest         // buyers: their acknowledged status reports
	buyerLeadsBefore map[string][]refbuyer.Lead // buyer processes: the leads that they hold
	webhookEvents    []refreceiver.Event        // webhook receiver: the events
	webhookStats     refreceiver.Stats          // webhook receiver: its counters
	model            *logModel                  // the log
	buyerLeadsAfter  map[string][]refbuyer.Lead // buyer processes again, after the log
	buyerStats       map[string]refbuyer.Stats  // buyer processes: their counters
	acknowledged     []operatorAction           // acknowledged top-ups, decisions and erasures
	pauses           []buyerPause               // acknowledged pauses of buyers

	lookups      []*leadLookup        // answers to lookups of leads by suppliers and buyers
	sinceSeq     uint64               // the log's position before the reads below
	explanations []*answerExplanation // admin API: explanations of leads and pings
	statements   []*accountStatement  // admin API: account statements

	hasAdminReads                  bool // the admin API was read
	openDeliveries, pendingReturns openList
	reports                        []*SalesReport // admin API: the sales report by buyer and by supplier, if ready
	readTally                      Tally          // number of reads so far

	// idle is set if no request is in flight and all open deliveries wait for the operator. All
	// sources must then agree exactly.
	idle            bool
	WebhooksDrained bool                    // idle, and every webhook event was delivered
	accounts        map[string]buyerAccount // admin API: buyers' accounts
}

// buyerAccount is a buyer's account in the admin API.
type buyerAccount struct {
	Balance signedAmount `json:"balance"`
	Held    market.Money `json:"held"`
}

// signedAmount is an amount of money that may be negative.
type signedAmount market.Money

func (b *signedAmount) UnmarshalJSON(text []byte) error {
	digits, negative := bytes.CutPrefix(text, []byte("-"))
	amount, err := market.ParseMoney(digits)
	if *b = signedAmount(amount); negative {
		*b = -*b
	}
	return err
}

// runChecks returns all findings.
func (p *Evidence) runChecks() []string {
	checks := []func() findings{
		p.checkLeadAnswers, p.checkPersonsSoldOnce, p.checkLeadsAtBuyers, p.checkAuctionAnswers, p.checkChosenBuyers, p.checkWebhooks, p.checkStatusReports, p.checkAcknowledged,
		p.checkPausedBuyers, p.checkLookups, p.checkExplanations, p.checkStatements, p.checkOpenLists, p.checkReports,
	}
	if p.idle {
		checks = append(checks, p.checkIdleLog, p.checkAuctionsRequested, p.checkIdleMoney)
	}
	found := slices.Clone(p.model.violations)
	for _, check := range checks {
		found = append(found, check()...)
	}
	return found
}

type findings []string

func (f *findings) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

// checkLeadAnswers checks that the log holds each answered lead once, with the answer's content.
func (p *Evidence) checkLeadAnswers() (found findings) {
	keys := map[string]string{}
	for _, t := range p.answers {
		said := &t.parsed.Data
		if other, twice := keys[said.ID]; twice {
			found.add("lead %s is the answer to two keys, %s and %s", said.ID, other, t.key)
		}
		keys[said.ID] = t.key
		e := p.model.leads[said.ID]
		if e == nil {
			found.add("lead %s (key %s) was acknowledged, but is not in the log", said.ID, t.key)
			continue
		}
		if e.request != t.RequestID || e.campaign != said.CampaignID || e.campaign != t.campaign {
			found.add("lead %s has request %s and campaign %s in the log, but its answer had request %s and campaign %s", e.id, e.request, e.campaign, t.RequestID, said.CampaignID)
		}
		if e.isTest != t.isTest {
			found.add("lead %s: test flag sent %t, logged %t", e.id, t.isTest, e.isTest)
		}
		found = append(found, p.compareAnswerWithLog(t, e)...)
	}
	return found
}

// compareAnswerWithLog compares an answer with the lead's state in the log. A lead that its buyer
// refused after ACCEPTED is unsold in the log; the answer stays ACCEPTED.
func (p *Evidence) compareAnswerWithLog(t *answeredRequest, e *modelLead) (found findings) {
	said := &t.parsed.Data
	switch {
	case said.Status == "UNMATCHED":
		if e.buyer != "" || e.reason != said.Reason {
			found.add("lead %s: answered UNMATCHED, %s, but the log has state %s, buyer %q, reason %s", e.id, said.Reason, e.state, e.buyer, e.reason)
		}
	case !t.isAccepted():
		found.add("lead %s: answered with the unknown status %q", e.id, said.Status)
	case e.state == stateOpen:
		found.add("lead %s was answered before the log had its outcome", e.id)
	case e.lastBuyer != said.BuyerID || (e.buyer == "" && !e.acceptedSent):
		found.add("lead %s: answered ACCEPTED with buyer %s, but the log has state %s, buyer %q", e.id, said.BuyerID, e.state, e.buyer)
	}
	if price, ok := p.priceFromAnswer(t); t.isAccepted() && (!ok || price != e.lastPrice && e.lastPrice != 0 || payout(price) != said.Price.Amount || said.Price.Currency != "USD") {
		found.add("lead %s of campaign %s, sold to %s: answered with the wrong payout %v %s", e.id, t.campaign, said.BuyerID, said.Price.Amount, said.Price.Currency)
	}
	return found
}

// checkPersonsSoldOnce checks that a campaign sells each person at most once.
func (p *Evidence) checkPersonsSoldOnce() (found findings) {
	sold := map[[2]string]string{}
	for _, t := range p.answers {
		e := p.model.leads[t.parsed.Data.ID]
		if e == nil || e.buyer == "" || e.isTest {
			continue
		}
		for _, known := range []string{t.phone, t.email} {
			if other, twice := sold[[2]string{t.campaign, known}]; twice && other != e.id {
				found.add("duplicate sale: leads %s and %s of campaign %s are about the same person", other, e.id, t.campaign)
			}
			sold[[2]string{t.campaign, known}] = e.id
		}
	}
	return found
}

// checkLeadsAtBuyers checks that each lead is at one endpoint only. It must be the endpoint of the
// buyer in the log, and a test lead must be at the test endpoint. A lead that is delivered by
// the log must be at its buyer.
func (p *Evidence) checkLeadsAtBuyers() (found findings) {
	owner := map[string]string{}
	for endpoint, leads := range p.buyerLeadsBefore {
		buyer, tests := splitEndpoint(endpoint)
		for _, lead := range leads {
			if other, twice := owner[lead.LeadUUID]; twice {
				found.add("lead %s is held by two endpoints: %s and %s", lead.LeadUUID, other, endpoint)
			}
			owner[lead.LeadUUID] = endpoint
			if e := p.model.leads[lead.LeadUUID]; e == nil || e.buyer != buyer || e.isTest != tests {
				found.add("endpoint %s holds lead %s, which the log does not sell to it", endpoint, lead.LeadUUID)
			}
		}
	}
	for endpoint, stats := range p.buyerStats {
		if stats.DoubleSold != 0 || stats.Invalid != 0 || stats.Forgotten != 0 || stats.ContactSeen != 0 {
			found.add("endpoint %s: %d leads sold twice, %d invalid requests, %d leads forgotten, %d pings with contact data; all must be 0",
				endpoint, stats.DoubleSold, stats.Invalid, stats.Forgotten, stats.ContactSeen)
		}
		switch _, tests := splitEndpoint(endpoint); {
		case !tests && stats.Tests != 0:
			found.add("production endpoint %s received %d test requests", endpoint, stats.Tests)
		case tests && stats.Pings+stats.Posts > stats.Tests:
			found.add("test endpoint %s received %d pings and posts, of which only %d are tests", endpoint, stats.Pings+stats.Posts, stats.Tests)
		}
	}
	holders := endpointsByLead(p.buyerLeadsAfter)
	for _, e := range p.model.leads {
		if e.state == stateDelivered && holders[e.id] != e.endpointName() {
			found.add("lead %s: the log says delivered to %s, which does not hold it", e.id, e.endpointName())
		}
	}
	return found
}

// endpointsByLead returns the endpoint that holds each lead.
func endpointsByLead(held map[string][]refbuyer.Lead) map[string]string {
	endpoints := map[string]string{}
	for endpoint, leads := range held {
		for _, lead := range leads {
			endpoints[lead.LeadUUID] = endpoint
		}
	}
	return endpoints
}

// openList is the admin API's list of open deliveries or of pending returns.
type openList struct {
	Total      int            `json:"total"`
	Deliveries []openListItem `json:"deliveries"`
	Returns    []openListItem `json:"returns"`
}

// openListItem is a delivery or a return in such a list.
type openListItem struct {
	Lead     string         `json:"lead_id"`
	State    string         `json:"state"` // of a delivery
	Price    currencyAmount `json:"price"` // of a delivery
	Buyer    string         `json:"buyer_id"`
	Status   string         `json:"status"` // of the lead whose return is pending
	Campaign string         `json:"campaign_id"`
	Credit   market.Money   `json:"credit"`
	Reverse  market.Money   `json:"reverse"`
	Test     bool           `json:"test"`
}

// checkOpenLists checks the lists of open deliveries and of pending returns.
func (p *Evidence) checkOpenLists() findings {
	deliveries := p.checkOpenList("open deliveries", &p.openDeliveries, (*leadView).isDeliveryOpen, func(_ *modelLead, v *leadView, d *openListItem) bool {
		return v.delivery == d.State && v.price == d.Price.Amount
	})
	isWaiting := func(v *leadView) bool { return v.returnState == returnWaiting }
	return append(deliveries, p.checkOpenList("pending returns", &p.pendingReturns, isWaiting, func(e *modelLead, v *leadView, r *openListItem) bool {
		credit := v.price
		if e.isTest {
			credit = 0
		}
		return v.status == r.Status && e.campaign == r.Campaign && credit == r.Credit && payout(credit) == r.Reverse
	})...)
}

// checkOpenList checks that each listed item was open at some moment since the request, and that
// each item that was open the whole time is listed.
func (p *Evidence) checkOpenList(what string, list *openList, isOpen func(*leadView) bool, matches func(*modelLead, *leadView, *openListItem) bool) (found findings) {
	listed := map[string]bool{}
	for _, item := range append(list.Deliveries, list.Returns...) {
		listed[item.Lead] = true
		e := p.model.leads[item.Lead]
		if e == nil || e.isTest != item.Test || !anyViewMatches(e.viewsSince(p.sinceSeq), func(v *leadView) bool {
			return isOpen(v) && v.buyer == item.Buyer && matches(e, v, &item)
		}) {
			found.add("list of %s: %+v was not so at any moment since the request", what, item)
		}
	}
	if !p.hasAdminReads || len(listed) != list.Total {
		return found // the answer holds only the first page
	}
	for id, e := range p.model.leads {
		if e.viewHistory[0].seq <= p.sinceSeq && !listed[id] && !anyViewMatches(e.viewsSince(p.sinceSeq), func(v *leadView) bool { return !isOpen(v) }) {
			found.add("list of %s: lead %s is missing", what, id)
		}
	}
	return found
}

// isDeliveryOpen reports whether the buyer may have the lead without a confirmation.
func (v *leadView) isDeliveryOpen() bool { return v.delivery == "pending" || v.delivery == "unknown" }
