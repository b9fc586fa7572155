package engine_test

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// word is a buyer's report to be sent. "-": the member is not there; a literal
// that is no string begins with #.
type word struct {
	buyer                    string // empty: blue
	lead                     string
	status, reason, occurred string
	key                      string
	badKey                   bool
}

// saying is a report that a lead has come to a status, under a key of its own.
func saying(a engine.IngestAnswer, status string) word {
	w := word{lead: a.Lead.String(), status: status, reason: "-", occurred: "-", key: "status-" + status + "-" + a.Lead.String()}
	if status == "returned" {
		w.reason = "wrong number"
	}
	return w
}

func (w word) withKey(key string) word       { w.key = key; return w }
func (w word) by(buyer string) word          { w.buyer = buyer; return w }
func (w word) because(reason string) word    { w.reason = reason; return w }
func (w word) happened(occurred string) word { w.occurred = occurred; return w }

func (w word) form() engine.ReceivedStatusReport {
	return engine.ReceivedStatusReport{
		Lead: member("lead_id", w.lead), Status: member("status", w.status),
		Reason: member("reason", w.reason), Occurred: member("occurred_at", w.occurred),
	}
}

func (x *exchange) statusRequest(words []word) *engine.StatusRequest {
	req := &engine.StatusRequest{Request: x.newRequestID(), Received: time.Now().UnixNano()}
	for _, w := range words {
		req.Buyer = x.engine.ActiveCatalog().Buyers[market.BuyerID(cmp.Or(w.buyer, "blue"))]
		req.Reports = append(req.Reports, w.form())
		req.Body = fmt.Append(req.Body, w.status, "|", w.reason, "|", w.occurred, ";")
		req.Key, req.BadKey = []byte(w.key), w.badKey
	}
	return req
}

// report sends one report that has just arrived.
func (x *exchange) report(w word) (engine.StatusAnswer, error) {
	req := x.statusRequest([]word{w})
	req.Lead, _ = market.ParseLeadID(w.lead)
	return x.engine.ProcessStatusReport(req)
}

// reportAll sends many in one request, under the last one's key.
func (x *exchange) reportAll(words ...word) (engine.StatusAnswer, error) {
	req := x.statusRequest(words)
	for _, w := range words {
		req.Body = append(req.Body, w.lead...)
	}
	return x.engine.ProcessStatusReports(req)
}

// objections are those to where a lead stands, in a word or two.
var objections = map[market.BuyerReportRejection]string{
	market.RejectionDeliveryPending: "on its way", market.RejectionNotSold: "not sold", market.RejectionStatusBackward: "further",
	market.RejectionReturnPending: "waits", market.RejectionReturnRefused: "refused", market.RejectionReturnLate: "late", market.RejectionReturnShare: "share",
}

func saidResult(r engine.ReportResult) string {
	text := r.Status.String()
	if r.Waits {
		text += " waiting"
	}
	if r.Code == "" {
		return text
	}
	text = string(r.Code)
	if r.Objection != market.RejectionNone {
		text = "no: " + objections[r.Objection]
	}
	for _, f := range r.Fields {
		text += " " + f.Field + ":" + f.Code
	}
	return text
}

// saidStatus is an answer in a few words.
func saidStatus(a engine.StatusAnswer, err error) string {
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		return saidResult(engine.ReportResult{Code: refusal.Code, Objection: refusal.Objection, Fields: refusal.Fields})
	}
	if err != nil {
		return "error: " + err.Error()
	}
	var all []string
	for _, r := range a.Results {
		all = append(all, saidResult(r))
	}
	return strings.Join(all, ", ")
}

// reported reports on one lead and says what came of it.
func (x *exchange) reported(w word) string { return saidStatus(x.report(w)) }

// sold is a lead that blue has: person n.
func (x *exchange) sold(n int, pairs ...string) engine.IngestAnswer {
	x.t.Helper()
	a, err := x.send(person(n, pairs...))
	if err != nil || !a.Accepted {
		x.t.Fatalf("person %d: %s", n, said(a, err))
	}
	return a
}

// balance is a buyer's money.
func (x *exchange) balance(buyer string) string {
	balance, held := x.state.BuyerBalance(x.engine.ActiveCatalog().Buyers[market.BuyerID(buyer)].Ref)
	if held != 0 {
		return balance.String() + " of which is held " + held.String()
	}
	return balance.String()
}

// lastFact is the fact that was logged last.
func (x *exchange) lastFact() event.Event {
	x.t.Helper()
	return last(x.t, recordsOf[event.Event](x))
}

// bought is a market in which blue, who has a hundred, buys all leads for ten each, of which
// eight are the supplier's.
func bought(rule market.ReturnRule) rig {
	r := selling(market.Waterfall, buyer{id: "blue", funds: "100"}, buyer{id: "gold", funds: "100"})
	r.campaigns[0].payout, r.campaigns[0].returns = "0.8", &rule
	return r
}

// returns is the usual rule with a change.
func returns(change func(*market.ReturnRule)) market.ReturnRule {
	rule := market.DefaultReturnRule()
	if change != nil {
		change(&rule)
	}
	return rule
}

// changed adds a report, and sees that no log could say it that should not: a
// lead that comes back twice, or more than it cost.
func (l *ledgerModel) changed(t testing.TB, fact *event.LeadStatusesChanged) {
	t.Helper()
	moved := map[market.LeadID]bool{}
	for i := range fact.Changes {
		c := &fact.Changes[i]
		waited := l.returns[c.Lead] == market.ReturnPending
		switch c.Result {
		case event.ChangeDone, event.ChangePending, event.ChangeRefused:
		default:
			if c.Return.Month != 0 || c.Webhook != market.WebhookNone {
				t.Errorf("lead %s: %s, and yet %+v", c.Lead, c.Result, c)
			}
			continue
		}
		if moved[c.Lead] || c.WasPending != waited || l.status[c.Lead] != c.From || !c.From.CanReportChangeTo(c.To) {
			t.Errorf("lead %s, at %s: %+v", c.Lead, l.status[c.Lead], c)
		}
		moved[c.Lead] = true
		switch c.Result {
		case event.ChangePending:
			l.returns[c.Lead] = market.ReturnPending
		case event.ChangeRefused:
			l.returns[c.Lead] = market.ReturnRefused
		default:
			l.status[c.Lead] = c.To
			l.balance[fact.Buyer] += c.Return.Credit
			l.charge(&event.Sale{Charges: c.Return.Charges}, -1)
			if c.To == market.StatusReturned {
				l.returns[c.Lead] = market.ReturnApproved
			}
		}
	}
}
