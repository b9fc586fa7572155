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
	topUps           []market.Money             // acknowledged top-ups
	decisions        []decision                 // the operator's acknowledged decisions on deliveries and returns
	pauses           []buyerPause               // acknowledged pauses of buyers
	erased           []string                   // leads with an acknowledged erasure

	lookups      []*lookup      // answers to lookups of leads by suppliers and buyers
	sinceSeq     uint64         // the log's position before the reads below
	explanations []*explanation // admin API: explanations of leads and pings
	statements   []*statement   // admin API: account statements
	openLists    *openLists     // admin API: lists of open deliveries and returns
	report       *SalesReport   // admin API: the sales report; nil if it was not ready
	readTally    Tally          // number of reads so far

	// idle is set if no request is in flight and all open deliveries wait for the operator. All
	// sources must then agree exactly.
	idle            bool
	WebhooksDrained bool               // idle, and every webhook event was delivered
	accounts        map[string]account // admin API: buyers' accounts
}

// account is a buyer's account in the admin API.
type account struct {
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

// audit returns all findings.
func (p *Evidence) audit() []string {
	found := slices.Clone(p.model.violations)
	found = append(found, p.checkAnswers()...)
	found = append(found, p.checkDuplicates()...)
	found = append(found, p.checkBuyers()...)
	found = append(found, p.checkLimits()...)
	found = append(found, p.checkTopUps()...)
	found = append(found, p.checkAuctionAnswers()...)
	found = append(found, p.checkWebhooks()...)
	found = append(found, p.checkStatusReports()...)
	found = append(found, p.checkDecisions()...)
	found = append(found, p.checkErasures()...)
	found = append(found, p.checkPauses()...)
	found = append(found, p.checkLookups()...)
	found = append(found, p.checkExplanations()...)
	found = append(found, p.checkStatements()...)
	found = append(found, p.checkOpenLists()...)
	found = append(found, p.checkReport()...)
	if p.idle {
		found = append(found, p.checkComplete()...)
		found = append(found, p.checkMoney()...)
	}
	return found
}

type findings []string

func (f *findings) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

// checkAnswers checks that the log holds each answered lead once, with the answer's content.
func (p *Evidence) checkAnswers() (found findings) {
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
		found = append(found, p.checkAnswer(t, e)...)
	}
	return found
}

// checkAnswer compares an answer with the lead's state in the log. A lead that its buyer
// refused after ACCEPTED is unsold in the log; the answer stays ACCEPTED.
func (p *Evidence) checkAnswer(t *answeredRequest, e *modelLead) (found findings) {
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
	if price, ok := p.soldPrice(t); t.isAccepted() && (!ok || price != e.lastPrice && e.lastPrice != 0 || payout(price) != said.Price.Amount || said.Price.Currency != "USD") {
		found.add("lead %s of campaign %s, sold to %s: answered with the wrong payout %v %s", e.id, t.campaign, said.BuyerID, said.Price.Amount, said.Price.Currency)
	}
	return found
}

// checkDuplicates checks that a campaign sells each person at most once.
func (p *Evidence) checkDuplicates() (found findings) {
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

// checkBuyers checks that each lead is at one endpoint only. It must be the endpoint of the
// buyer in the log, and a test lead must be at the test endpoint. A lead that is delivered by
// the log must be at its buyer.
func (p *Evidence) checkBuyers() (found findings) {
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
	at := map[string]string{}
	for endpoint, leads := range p.buyerLeadsAfter {
		for _, lead := range leads {
			at[lead.LeadUUID] = endpoint
		}
	}
	for _, e := range p.model.leads {
		if e.state == stateDelivered && at[e.id] != e.endpointName() {
			found.add("lead %s: the log says delivered to %s, which does not hold it", e.id, e.endpointName())
		}
	}
	return found
}

// openLists holds the admin API's lists of open deliveries and pending returns.
type openLists struct {
	deliveries struct {
		Total      int `json:"total"`
		Deliveries []struct {
			Lead  string     `json:"lead_id"`
			State string     `json:"state"`
			Buyer string     `json:"buyer_id"`
			Price jsonAmount `json:"price"`
			Test  bool       `json:"test"`
		} `json:"deliveries"`
	}
	returns struct {
		Total   int `json:"total"`
		Returns []struct {
			Lead     string       `json:"lead_id"`
			Status   string       `json:"status"`
			Buyer    string       `json:"buyer_id"`
			Campaign string       `json:"campaign_id"`
			Credit   market.Money `json:"credit"`
			Reverse  market.Money `json:"reverse"`
			Test     bool         `json:"test"`
		} `json:"returns"`
	}
}

// checkOpenLists checks the two lists. Each listed item must have been open at some moment
// since the request, and each item that was open the whole time must be listed.
func (p *Evidence) checkOpenLists() (found findings) {
	if p.openLists == nil {
		return nil
	}
	deliveries, returns := map[string]bool{}, map[string]bool{}
	for _, d := range p.openLists.deliveries.Deliveries {
		deliveries[d.Lead] = true
		e := p.model.leads[d.Lead]
		if e == nil || e.isTest != d.Test || !hasView(e.viewsSince(p.sinceSeq), func(v *leadView) bool {
			return v.delivery == d.State && v.buyer == d.Buyer && v.price == d.Price.Amount
		}) {
			found.add("list of open deliveries: %+v matches no delivery that was open since the request", d)
		}
	}
	for _, r := range p.openLists.returns.Returns {
		returns[r.Lead] = true
		e := p.model.leads[r.Lead]
		if e == nil || e.isTest != r.Test || e.campaign != r.Campaign || !hasView(e.viewsSince(p.sinceSeq), func(v *leadView) bool {
			credit := v.price
			if e.isTest {
				credit = 0
			}
			return v.returnState == returnWaiting && v.status == r.Status && v.buyer == r.Buyer && credit == r.Credit && payout(credit) == r.Reverse
		}) {
			found.add("list of pending returns: %+v matches no return that was pending since the request", r)
		}
	}
	all := len(deliveries) == p.openLists.deliveries.Total && len(returns) == p.openLists.returns.Total // false: the answers hold only the first page
	for id, e := range p.model.leads {
		if !all || e.viewHistory[0].seq > p.sinceSeq {
			continue
		}
		views := e.viewsSince(p.sinceSeq)
		if !deliveries[id] && !hasView(views, func(v *leadView) bool { return !v.isDeliveryOpen() }) {
			found.add("list of open deliveries: lead %s is missing", id)
		}
		if !returns[id] && !hasView(views, func(v *leadView) bool { return v.returnState != returnWaiting }) {
			found.add("list of pending returns: lead %s is missing", id)
		}
	}
	return found
}

// isDeliveryOpen reports whether the buyer may have the lead without a confirmation.
func (v *leadView) isDeliveryOpen() bool { return v.delivery == "pending" || v.delivery == "unknown" }
