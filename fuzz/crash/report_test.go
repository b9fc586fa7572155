package crash

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"

	"pingpost/engine/event"
)

// reportShare of the leads that were recorded for a buyer, in percent, are reported
// on by it, each once.
const reportShare = 40

// reportPath is of the reports on a lead.
func reportPath(lead string) string { return "/v1/leads/" + lead + "/status" }

// isReport tells a report from what suppliers send.
func (o *order) isReport() bool {
	return strings.HasPrefix(o.path, "/v1/leads/")
}

// report says as the lead's buyer what became of it, where that buyer reports at
// all; false: the context has ended.
func (c *crowd) report(ctx context.Context, call *caller, sold *told, chance *rand.Rand) bool {
	if sold == nil || !sold.accepted() {
		return true
	}
	token := c.reporters[sold.said.Data.BuyerID]
	if token == "" || chance.IntN(100) >= reportShare {
		return true
	}
	status := []string{"contacted", "qualified", "sold"}[chance.IntN(3)]
	lead := sold.said.Data.ID
	o := &order{path: reportPath(lead), token: token, key: "report-" + lead, body: encode(object{"status": status})}
	a, ok := call.send(ctx, o)
	if ok {
		c.reports.enter(o, a)
	}
	return ok
}

// readReport reads what a report was answered.
func (t *told) readReport() error {
	var said struct {
		Lead   string `json:"lead_id"`
		Status string `json:"status"`
	}
	err := json.Unmarshal([]byte(t.text), &said)
	t.said.Data.ID, t.said.Data.Status = said.Lead, said.Status
	return err
}

// change enters what a buyer said of a lead. Here each is reported on once, by the
// buyer that it is recorded for.
func (b *book) change(f *fact) {
	for _, c := range f.Changes {
		e, reporter := b.leads[c.Lead], b.name(event.NameBuyer, f.Buyer)
		switch {
		case c.Result != "done":
			b.breach("a report on lead %s came to %s", c.Lead, c.Result)
		case e == nil || e.standing != recorded || e.buyer != reporter:
			b.breach("%s reported on lead %s, which is not recorded for it", reporter, c.Lead)
		case e.became != "":
			b.breach("lead %s became %s, and then %s", c.Lead, e.became, c.To)
		default:
			e.became = c.To
		}
	}
}

// reported: every report that was acknowledged is in the log, and says the same.
func (p *picture) reported() (found findings) {
	for _, t := range p.reports {
		said := &t.said.Data
		if e := p.book.leads[said.ID]; e == nil || e.became != said.Status || t.path != reportPath(said.ID) {
			found.add("that lead %s became %s was acknowledged and is lost", said.ID, said.Status)
		}
	}
	return found
}
