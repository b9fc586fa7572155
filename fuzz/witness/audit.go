package witness

import (
	"bytes"
	"fmt"
	"slices"

	"pingpost/engine/market"
	"pingpost/loadtest/refbuyer"
	"pingpost/loadtest/refreceiver"
)

// A Picture is what the witnesses said at about one time. They are asked in the
// order of the fields: whoever is told of a lead first is asked first, so that
// what an earlier one knows a later one must know.
type Picture struct {
	terms     *Terms
	answers   []*told                    // the suppliers: of leads that they were given an id of
	pings     []*told                    // likewise: of bids, or that there is none
	asks      []*told                    // likewise: of buyers to choose from
	refused   []*told                    // likewise: of posts that were not sold
	late      []string                   // likewise: keys of posts that came too late
	reports   []*told                    // buyers: of what they said of leads
	before    map[string][]refbuyer.Lead // the buyers
	events    []refreceiver.Event        // the supplier's endpoint: what it was told
	hooks     refreceiver.Stats          // likewise
	book      *book                      // the log
	after     map[string][]refbuyer.Lead // the buyers again
	stats     map[string]refbuyer.Stats  // likewise
	added     []market.Money             // top-ups that were acknowledged
	ruled     []ruling                   // what the operator said of leads, and was acknowledged
	pauses    []pause                    // of buyers, that were acknowledged
	forgotten []string                   // leads that were erased, and that was acknowledged

	looks      []*look        // what suppliers and buyers were shown of leads
	since      uint64         // entry that was there before what follows was read
	explained  []*explanation // what an operator was told of leads and pings
	statements []*statement   // likewise, of money
	listed     *listed        // likewise, of what is open
	sums       *sums          // likewise, of all money; nil: the report could not be read yet
	readings   Tally          // of these, and of those of the pictures before

	// atRest: no request is under way, and no delivery but those that wait for
	// the operator. Then all must agree, in both directions.
	atRest  bool
	Drained bool               // and every event is delivered
	funds   map[string]account // what the exchange says
}

// account is a buyer's money as the admin address tells it.
type account struct {
	Balance balance      `json:"balance"`
	Held    market.Money `json:"held"`
}

// balance is money that may be owed: the one amount that is ever negative.
type balance market.Money

func (b *balance) UnmarshalJSON(text []byte) error {
	digits, negative := bytes.CutPrefix(text, []byte("-"))
	amount, err := market.ParseMoney(digits)
	if *b = balance(amount); negative {
		*b = -*b
	}
	return err
}

// audit returns all that is wrong in the picture.
func (p *Picture) audit() []string {
	found := slices.Clone(p.book.breaches)
	found = append(found, p.acknowledged()...)
	found = append(found, p.people()...)
	found = append(found, p.bought()...)
	found = append(found, p.counted()...)
	found = append(found, p.topUps()...)
	found = append(found, p.offered()...)
	found = append(found, p.notified()...)
	found = append(found, p.reported()...)
	found = append(found, p.decreed()...)
	found = append(found, p.forgot()...)
	found = append(found, p.kept()...)
	found = append(found, p.looked()...)
	found = append(found, p.narrated()...)
	found = append(found, p.stated()...)
	found = append(found, p.lists()...)
	found = append(found, p.summedUp()...)
	if p.atRest {
		found = append(found, p.complete()...)
		found = append(found, p.owed()...)
	}
	return found
}

type findings []string

func (f *findings) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

// acknowledged: every answer is in the log, once, and says the same.
func (p *Picture) acknowledged() (found findings) {
	keys := map[string]string{}
	for _, t := range p.answers {
		said := &t.said.Data
		if other, twice := keys[said.ID]; twice {
			found.add("lead %s answered the keys %s and %s", said.ID, other, t.key)
		}
		keys[said.ID] = t.key
		e := p.book.leads[said.ID]
		if e == nil {
			found.add("lead %s (key %s) was acknowledged and is lost", said.ID, t.key)
			continue
		}
		if e.request != t.Request || e.campaign != said.CampaignID || e.campaign != t.campaign {
			found.add("lead %s is of request %s and %s, and was acknowledged as of %s and %s", e.id, e.request, e.campaign, t.Request, said.CampaignID)
		}
		if e.test != t.test {
			found.add("lead %s was sent as a test: %t, and is one: %t", e.id, t.test, e.test)
		}
		found = append(found, p.agrees(t, e)...)
	}
	return found
}

// agrees compares an answer with what became of its lead. An accepted lead that
// its buyer refused afterwards is unsold now; its answer stays.
func (p *Picture) agrees(t *told, e *entry) (found findings) {
	said := &t.said.Data
	switch {
	case said.Status == "UNMATCHED":
		if e.buyer != "" || e.reason != said.Reason {
			found.add("lead %s was told UNMATCHED, %s, and is %s with %q, %s", e.id, said.Reason, e.standing, e.buyer, e.reason)
		}
	case !t.accepted():
		found.add("lead %s was told %q", e.id, said.Status)
	case e.standing == open:
		found.add("lead %s was answered before its fate was logged", e.id)
	case e.last != said.BuyerID || (e.buyer == "" && !e.promised):
		found.add("lead %s was told ACCEPTED with %s, and is %s with %q", e.id, said.BuyerID, e.standing, e.buyer)
	}
	if price, ok := p.priceOf(t); t.accepted() && (!ok || price != e.paid && e.paid != 0 || payout(price) != said.Price.Amount || said.Price.Currency != "USD") {
		found.add("lead %s of %s with %s was told to pay %v %s", e.id, t.campaign, said.BuyerID, said.Price.Amount, said.Price.Currency)
	}
	return found
}

// people: nobody is sold twice in one campaign.
func (p *Picture) people() (found findings) {
	sold := map[[2]string]string{}
	for _, t := range p.answers {
		e := p.book.leads[t.said.Data.ID]
		if e == nil || e.buyer == "" || e.test {
			continue
		}
		for _, known := range []string{t.phone, t.email} {
			if other, twice := sold[[2]string{t.campaign, known}]; twice && other != e.id {
				found.add("the leads %s and %s of %s are the same person's, and both are sold", other, e.id, t.campaign)
			}
			sold[[2]string{t.campaign, known}] = e.id
		}
	}
	return found
}

// bought: a lead is at one endpoint, of the buyer that the log says, a test at the one for
// tests; and a lead that was delivered, by the log, is there.
func (p *Picture) bought() (found findings) {
	owner := map[string]string{}
	for endpoint, leads := range p.before {
		buyer, tests := house(endpoint)
		for _, lead := range leads {
			if other, twice := owner[lead.LeadUUID]; twice {
				found.add("lead %s is at %s and at %s", lead.LeadUUID, other, endpoint)
			}
			owner[lead.LeadUUID] = endpoint
			if e := p.book.leads[lead.LeadUUID]; e == nil || e.buyer != buyer || e.test != tests {
				found.add("%s holds lead %s, and by the log it does not", endpoint, lead.LeadUUID)
			}
		}
	}
	for endpoint, stats := range p.stats {
		if stats.DoubleSold != 0 || stats.Invalid != 0 || stats.Forgotten != 0 || stats.ContactSeen != 0 {
			found.add("%s was sold %d leads twice, got %d wrong requests, has forgotten %d leads, was told %d persons in pings",
				endpoint, stats.DoubleSold, stats.Invalid, stats.Forgotten, stats.ContactSeen)
		}
		switch _, tests := house(endpoint); {
		case !tests && stats.Tests != 0:
			found.add("%s was sent %d requests that are tests", endpoint, stats.Tests)
		case tests && stats.Pings+stats.Posts > stats.Tests:
			found.add("%s was sent %d pings and posts, of which %d are tests", endpoint, stats.Pings+stats.Posts, stats.Tests)
		}
	}
	at := map[string]string{}
	for endpoint, leads := range p.after {
		for _, lead := range leads {
			at[lead.LeadUUID] = endpoint
		}
	}
	for _, e := range p.book.leads {
		if e.standing == delivered && at[e.id] != e.endpoint() {
			found.add("lead %s was delivered to %s, which does not hold it", e.id, e.endpoint())
		}
	}
	return found
}

// listed is what an operator finds on the lists of what is open.
type listed struct {
	deliveries struct {
		Total      int `json:"total"`
		Deliveries []struct {
			Lead  string `json:"lead_id"`
			State string `json:"state"`
			Buyer string `json:"buyer_id"`
			Price sum    `json:"price"`
			Test  bool   `json:"test"`
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

// lists: on the lists of open deliveries and of returns that wait is what was open at
// some time since they were asked for, and all that was so all the time.
func (p *Picture) lists() (found findings) {
	if p.listed == nil {
		return nil
	}
	deliveries, returns := map[string]bool{}, map[string]bool{}
	for _, d := range p.listed.deliveries.Deliveries {
		deliveries[d.Lead] = true
		e := p.book.leads[d.Lead]
		if e == nil || e.test != d.Test || !anyView(e.since(p.since), func(v *view) bool {
			return v.delivery == d.State && v.buyer == d.Buyer && v.price == d.Price.Amount
		}) {
			found.add("a delivery is listed as %+v, and is none", d)
		}
	}
	for _, r := range p.listed.returns.Returns {
		returns[r.Lead] = true
		e := p.book.leads[r.Lead]
		if e == nil || e.test != r.Test || e.campaign != r.Campaign || !anyView(e.since(p.since), func(v *view) bool {
			credit := v.price
			if e.test {
				credit = 0
			}
			return v.back == waiting && v.status == r.Status && v.buyer == r.Buyer && credit == r.Credit && payout(credit) == r.Reverse
		}) {
			found.add("a return is listed as %+v, and none waits", r)
		}
	}
	all := len(deliveries) == p.listed.deliveries.Total && len(returns) == p.listed.returns.Total // not a page of them
	for id, e := range p.book.leads {
		if !all || e.views[0].seq > p.since {
			continue
		}
		views := e.since(p.since)
		if !deliveries[id] && !anyView(views, func(v *view) bool { return !v.underWay() }) {
			found.add("the delivery of lead %s is open, and on no list", id)
		}
		if !returns[id] && !anyView(views, func(v *view) bool { return v.back != waiting }) {
			found.add("a return of lead %s waits, and is on no list", id)
		}
	}
	return found
}

// underWay: its buyer may have it, and nobody knows yet, or ever.
func (v *view) underWay() bool { return v.delivery == "pending" || v.delivery == "unknown" }
