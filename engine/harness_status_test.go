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

// statusReport is a buyer's report on a lead. For the values see member.
type statusReport struct {
	buyer                    string // empty: blue
	lead                     string
	status, reason, occurred string
	key                      string
	badKey                   bool
}

// newReport returns a report of the lead's new status, with its own idempotency key.
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

func (x *testExchange) statusRequest(words []statusReport) *engine.StatusReportRequest {
	req := &engine.StatusReportRequest{Request: x.newRequestID(), Received: time.Now().UnixNano()}
	for _, w := range words {
		req.Buyer = x.engine.ActiveCatalogOrNil().Buyers[market.BuyerID(cmp.Or(w.buyer, "blue"))]
		req.Reports = append(req.Reports, w.received())
		req.Body = fmt.Append(req.Body, w.status, "|", w.reason, "|", w.occurred, ";")
		req.Key, req.BadKey = []byte(w.key), w.badKey
	}
	return req
}

// report processes one report received now.
func (x *testExchange) report(w statusReport) (engine.StatusReportAnswer, error) {
	req := x.statusRequest([]statusReport{w})
	req.Lead, _ = market.ParseLeadID(w.lead)
	return x.engine.ProcessSingleStatusReport(req)
}

// reportAll processes all reports as one request, with the last one's key.
func (x *testExchange) reportAll(words ...statusReport) (engine.StatusReportAnswer, error) {
	req := x.statusRequest(words)
	for _, w := range words {
		req.Body = append(req.Body, w.lead...)
	}
	return x.engine.ProcessStatusReports(req)
}

// objections are short names of the rejections.
var objections = map[market.StatusReportRejection]string{
	market.RejectionDeliveryPending: "on its way", market.RejectionNotSold: "not sold", market.RejectionStatusBackward: "further",
	market.RejectionReturnPending: "waits", market.RejectionReturnRefused: "refused", market.RejectionReturnLate: "late", market.RejectionReturnShare: "share",
}

func describeReport(r engine.StatusReportResult) string {
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

// describeStatusAnswer returns the results, or the error.
func describeStatusAnswer(a engine.StatusReportAnswer, err error) string {
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		return describeReport(engine.StatusReportResult{Code: refusal.Code, Objection: refusal.Objection, Fields: refusal.Fields})
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

// reportResult processes one report and describes the answer.
func (x *testExchange) reportResult(w statusReport) string { return describeStatusAnswer(x.report(w)) }

// soldLead sells lead n to blue.
func (x *testExchange) soldLead(n int, pairs ...string) engine.IngestAnswer {
	x.t.Helper()
	a, err := x.ingest(leadRequest(n, pairs...))
	if err != nil || !a.Accepted {
		x.t.Fatalf("lead %d is not sold: %s", n, describeIngest(a, err))
	}
	return a
}

// balance returns a buyer's balance and the part on hold.
func (x *testExchange) balance(buyer string) string {
	balance, held := x.state.BuyerBalance(x.engine.ActiveCatalogOrNil().Buyers[market.BuyerID(buyer)].Ref)
	if held != 0 {
		return balance.String() + " of which is held " + held.String()
	}
	return balance.String()
}

// lastEvent returns the last event of the log.
func (x *testExchange) lastEvent() event.Event {
	x.t.Helper()
	return last(x.t, eventsOf[event.Event](x))
}

// returnsMarket returns a market in which blue has 100 and buys all leads at 10 each. The payout
// is 80%.
func returnsMarket(rule market.ReturnRule) marketSpec {
	r := marketOf(market.Waterfall, buyer{id: "blue", funds: "100"}, buyer{id: "gold", funds: "100"})
	r.campaigns[0].payout, r.campaigns[0].returns = "0.8", &rule
	return r
}

// returnRule returns the default rule with the change.
func returnRule(change func(*market.ReturnRule)) market.ReturnRule {
	rule := market.DefaultReturnRule()
	if change != nil {
		change(&rule)
	}
	return rule
}

// applyStatusChanges checks and applies the changes, for example that a lead is returned only
// once.
func (l *ledgerModel) applyStatusChanges(t testing.TB, record *event.LeadStatusChangesDecided) {
	t.Helper()
	moved := map[market.LeadID]bool{}
	for i := range record.Changes {
		c := &record.Changes[i]
		waited := l.returns[c.Lead] == market.ReturnPending
		switch c.Result {
		case event.ChangeDone, event.ChangePending, event.ChangeRefused:
		default:
			if c.Return.Month != 0 || c.Webhook != market.WebhookNone {
				t.Errorf("lead %s: result %s has effects: %+v", c.Lead, c.Result, c)
			}
			continue
		}
		if moved[c.Lead] || c.WasPending != waited || l.status[c.Lead] != c.From || !c.From.CanReportChangeTo(c.To) {
			t.Errorf("lead %s: invalid change from %s: %+v", c.Lead, l.status[c.Lead], c)
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
