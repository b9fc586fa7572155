package witness

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// reportShare of the leads that were recorded for a buyer, in percent, are reported
// on by it at once.
const reportShare = 40

// pathBatch is where many leads are reported on at once.
const pathBatch = "/v1/leads/status"

// reportPath is of the reports on a lead.
func reportPath(lead string) string { return "/v1/leads/" + lead + "/status" }

// reportOf is what is said of a lead.
type reportOf struct {
	Lead   string `json:"lead_id"`
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
	Return string `json:"return,omitempty"`
	Error  string `json:"error,omitempty"`
}

// isReport tells a report from what suppliers send.
func (o *order) isReport() bool {
	return strings.HasPrefix(o.path, "/v1/leads/")
}

// report says as the lead's buyer what became of it, where that buyer reports at
// all; false: the context has ended.
func (c *Crowd) report(ctx context.Context, call *caller, sold *told, chance *rand.Rand) bool {
	if sold == nil || !sold.accepted() || c.terms.full {
		return true
	}
	token := c.reporters[sold.said.Data.BuyerID]
	if token == "" || chance.IntN(100) >= reportShare {
		return true
	}
	status := []string{"contacted", "qualified", "sold"}[chance.IntN(3)]
	lead := sold.said.Data.ID
	o := &order{path: reportPath(lead), token: token, key: "report-" + lead, body: encode(object{"status": status})}
	return c.bring(ctx, call, &c.reports, o)
}

// bring sends an order until it is answered, and enters that.
func (c *Crowd) bring(ctx context.Context, call *caller, l *ledger, o *order) bool {
	a, ok := call.send(ctx, o)
	if ok {
		l.enter(o, a)
	}
	return ok
}

// readReport reads what a report, or a batch of them, was answered.
func (t *told) readReport() error {
	if t.path != pathBatch {
		var one reportOf
		err := json.Unmarshal([]byte(t.Text), &one)
		t.reports = []reportOf{one}
		return err
	}
	var many struct {
		Results []reportOf `json:"results"`
	}
	if err := json.Unmarshal([]byte(t.Text), &many); err != nil {
		return err
	}
	if len(many.Results) == 0 {
		return errors.New("a batch without results")
	}
	t.reports = slices.DeleteFunc(many.Results, func(r reportOf) bool { return r.Error == "invalid_transition" && t.clashes })
	return nil
}

// after is what a lead may become where it stands; none: it is at its end.
func after(became []string) []string {
	all := []string{"contacted", "qualified", "sold", "returned"}
	if len(became) == 0 {
		return all
	}
	return all[slices.Index(all, became[len(became)-1])+1:]
}

// change enters what buyers said of their leads.
func (b *book) change(f *fact) {
	for _, c := range f.Changes {
		e, reporter := b.leads[c.Lead], b.name(event.NameBuyer, f.Buyer)
		switch {
		case c.Result == "none" || c.Result == "not_now":
		case c.Waited && e != nil:
			b.decreeReturn(e, c.Result == "done", c.Credit, c.Reverse)
		case c.Result != "done" && c.Result != "waits":
			b.breach("a report on lead %s came to %s", c.Lead, c.Result)
		case e == nil || e.standing != recorded && e.standing != delivered || e.buyer != reporter:
			b.breach("%s reported on lead %s, which it does not have", reporter, c.Lead)
		case !slices.Contains(e.further(), c.To), (c.Result == "waits") != (c.To == "returned" && b.manual(e)):
			b.breach("lead %s became %q, and then %s (%s, %s)", c.Lead, e.became, c.To, c.Result, e.asked)
		case c.Result == "waits":
			e.asked = waiting
		default:
			e.became = append(e.became, c.To)
			b.back(e, c.Credit, c.Reverse)
		}
	}
}

// back enters what a return gives back; all else gives nothing.
func (b *book) back(e *entry, credit, reverse market.Money) {
	wanted := market.Money(0)
	if e.returned() && !e.test {
		wanted = e.price
		if c := b.terms.campaign(e.campaign); c != nil && c.capBack {
			b.charge(e, -1)
		}
	}
	if credit != wanted || reverse != payout(wanted) {
		b.breach("lead %s, sold at %v, became %q: %v and %v are given back", e.id, e.price, e.became, credit, reverse)
	}
	b.gaveBack(e, credit, reverse)
}

func (e *entry) returned() bool { return slices.Contains(e.became, "returned") }

// reported: every report that was acknowledged is in the log, and says the same.
func (p *Picture) reported() (found findings) {
	for _, t := range p.reports {
		for _, r := range t.reports {
			e := p.book.leads[r.Lead]
			if r.Return == "waiting" && e != nil && e.asked != never {
				continue
			}
			if e == nil || !slices.Contains(e.became, r.Status) || t.path != pathBatch && t.path != reportPath(r.Lead) {
				found.add("that lead %s became %s was acknowledged and is lost", r.Lead, r.Status)
			}
		}
	}
	return found
}
