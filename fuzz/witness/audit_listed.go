package witness

import "pingpost/engine/market"

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
