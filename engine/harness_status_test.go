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

// statusReport is a buyer's report to be sent. "-": the member is not there; a literal
// that is no string begins with #.
type statusReport struct {
	buyer                    string // empty: blue
	lead                     string
	status, reason, occurred string
	key                      string
	badKey                   bool
}

// newReport is a report that a lead has come to a status, under a key of its own.
func newReport(a engine.IngestAnswer, status string) statusReport {
	w := statusReport{lead: a.Lead.String(), status: status, reason: "-", occurred: "-", key: "status-" + status + "-" + a.Lead.String()}
	if status == "returned" {
		w.reason = "wrong number"
	}
	return w
}

func (w statusReport) withKey(key string) statusReport         { w.key = key; return w }
func (w statusReport) fromBuyer(buyer string) statusReport     { w.buyer = buyer; return w }
func (w statusReport) withReason(reason string) statusReport   { w.reason = reason; return w }
func (w statusReport) occurredAt(occurred string) statusReport { w.occurred = occurred; return w }

func (w statusReport) received() engine.ReceivedStatusReport {
	return engine.ReceivedStatusReport{
		Lead: member("lead_id", w.lead), Status: member("status", w.status),
		Reason: member("reason", w.reason), Occurred: member("occurred_at", w.occurred),
	}
}

func (x *testExchange) statusRequest(words []statusReport) *engine.StatusRequest {
	req := &engine.StatusRequest{Request: x.newRequestID(), Received: time.Now().UnixNano()}
	for _, w := range words {
		req.Buyer = x.engine.ActiveCatalog().Buyers[market.BuyerID(cmp.Or(w.buyer, "blue"))]
		req.Reports = append(req.Reports, w.received())
		req.Body = fmt.Append(req.Body, w.status, "|", w.reason, "|", w.occurred, ";")
		req.Key, req.BadKey = []byte(w.key), w.badKey
	}
	return req
}

// report sends one report that has just arrived.
func (x *testExchange) report(w statusReport) (engine.StatusAnswer, error) {
	req := x.statusRequest([]statusReport{w})
	req.Lead, _ = market.ParseLeadID(w.lead)
	return x.engine.ProcessStatusReport(req)
}

// reportAll sends many in one request, under the last one's key.
func (x *testExchange) reportAll(words ...statusReport) (engine.StatusAnswer, error) {
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

func describeReport(r engine.ReportResult) string {
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

// describeStatusAnswer is an answer in a few words.
func describeStatusAnswer(a engine.StatusAnswer, err error) string {
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		return describeReport(engine.ReportResult{Code: refusal.Code, Objection: refusal.Objection, Fields: refusal.Fields})
	}
	if err != nil {
		return "error: " + err.Error()
	}
	var all []string
	for _, r := range a.Results {
		all = append(all, describeReport(r))
	}
	return strings.Join(all, ", ")
}

// reportResult reports on one lead and says what came of it.
func (x *testExchange) reportResult(w statusReport) string { return describeStatusAnswer(x.report(w)) }

// soldLead is a lead that blue has: person n.
func (x *testExchange) soldLead(n int, pairs ...string) engine.IngestAnswer {
	x.t.Helper()
	a, err := x.ingest(leadRequest(n, pairs...))
	if err != nil || !a.Accepted {
		x.t.Fatalf("person %d: %s", n, describeIngest(a, err))
	}
	return a
}

// balance is a buyer's money.
func (x *testExchange) balance(buyer string) string {
	balance, held := x.state.BuyerBalance(x.engine.ActiveCatalog().Buyers[market.BuyerID(buyer)].Ref)
	if held != 0 {
		return balance.String() + " of which is held " + held.String()
	}
	return balance.String()
}

// lastEvent is the event that was logged last.
func (x *testExchange) lastEvent() event.Event {
	x.t.Helper()
	return last(x.t, eventsOf[event.Event](x))
}

// returnsMarket is a market in which blue, who has a hundred, buys all leads for ten each, of which
// eight are the supplier's.
func returnsMarket(rule market.ReturnRule) marketSpec {
	r := marketOf(market.Waterfall, buyer{id: "blue", funds: "100"}, buyer{id: "gold", funds: "100"})
	r.campaigns[0].payout, r.campaigns[0].returns = "0.8", &rule
	return r
}

// returnRule is the usual rule with a change.
func returnRule(change func(*market.ReturnRule)) market.ReturnRule {
	rule := market.DefaultReturnRule()
	if change != nil {
		change(&rule)
	}
	return rule
}

// applyStatusChanges adds a report, and sees that no log could say it that should not: a
// lead that comes back twice, or more than it cost.
func (l *ledgerModel) applyStatusChanges(t testing.TB, record *event.LeadStatusesChanged) {
	t.Helper()
	moved := map[market.LeadID]bool{}
	for i := range record.Changes {
		c := &record.Changes[i]
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
			l.balance[record.Buyer] += c.Return.Credit
			l.charge(&event.Sale{Charges: c.Return.Charges}, -1)
			if c.To == market.StatusReturned {
				l.returns[c.Lead] = market.ReturnApproved
			}
		}
	}
}
