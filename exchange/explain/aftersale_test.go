package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/exchange/logtest"
)

// configWithReturnReasons has a campaign with two reasons for a return.
const configWithReturnReasons = `{"campaigns":[{"id":"cmp","method":"waterfall","buyers":[{"buyer":"buy_1"},{"buyer":"buy_2"}],"returns":{"reasons":["wrong_number","no_consent"]}}]}`

// addDeliveredLead records a lead that the first buyer got, and advances the clock by an hour.
func (c *history) addDeliveredLead(n byte, change ...func(*event.PostSettled)) market.LeadID {
	c.t.Helper()
	id := c.NewLeadID(n)
	c.AddLeadPostedToBuyer1(id)
	c.AdvanceClock(time.Second)
	c.AddPostResult(id, event.SettledDelivered, change...)
	c.AdvanceClock(time.Hour)
	return id
}

// addReport records a buyer's report on a lead.
func (c *history) addReport(id market.LeadID, to market.LeadStatus, result event.LeadStatusChangeResult, change ...func(*event.DecidedLeadStatusChange)) {
	c.t.Helper()
	status := event.DecidedLeadStatusChange{Lead: id, From: market.StatusAccepted, To: to, Result: result, Supplier: 1}
	for _, do := range change {
		do(&status)
	}
	c.Add(&event.LeadStatusChangesDecided{Request: market.RequestID{77, byte(c.Seq)}, Buyer: 1, At: c.Now, Changes: []event.DecidedLeadStatusChange{{Lead: market.LeadID{1}, Result: event.ChangeUnknown}, status}})
}

// withReturn sets the reason and the amounts of a return.
func withReturn(reason string) func(*event.DecidedLeadStatusChange) {
	return func(c *event.DecidedLeadStatusChange) {
		c.Reason = reason
		c.Return = event.MoneyAndCapsReversedByReturn{Campaign: 1, Credit: 12_500_000, Reverse: 10_000_000, Currency: market.Currency{'U', 'S', 'D'}, Month: market.StartOfUTCMonth(logtest.Start)}
	}
}

// reportsText returns the reports of an explanation in status line.
func (x *Explanation) reportsText() string {
	var lines []string
	for i := range x.Reports {
		r := &x.Reports[i]
		line := fmt.Sprintf("%s: %s to %s, %s", r.By, r.From, r.To, r.Result)
		if r.Credit != nil {
			line += fmt.Sprintf(", %s and %s", r.Credit, r.Reversed)
		}
		if r.Reason != "" {
			line += ", " + r.Reason
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

// TestExplainReports: the lead's status, the amounts returned and the author of each
// report. A report without an effect appears too.
func TestExplainReports(t *testing.T) {
	wasPending := func(c *event.DecidedLeadStatusChange) { c.WasPending = true }
	type step struct {
		to     market.LeadStatus
		result event.LeadStatusChangeResult
		change []func(*event.DecidedLeadStatusChange)
	}
	for name, row := range map[string]struct {
		steps    []step
		status   string
		reported string
		why      string
	}{
		"no report": {nil, "ACCEPTED", "", "The buyer acknowledged the lead."},
		"contacted": {[]step{{market.StatusContacted, event.ChangeDone, nil}}, "contacted", "buyer: ACCEPTED to contacted, done", "buy_1 reported it as contacted."},
		"contacted, then sold": {
			[]step{{market.StatusContacted, event.ChangeDone, nil}, {market.StatusSold, event.ChangeDone, []func(*event.DecidedLeadStatusChange){func(c *event.DecidedLeadStatusChange) { c.From = market.StatusContacted }}}},
			"sold", "buyer: ACCEPTED to contacted, done; buyer: contacted to sold, done", "buy_1 reported it as sold.",
		},
		"reported twice": {
			[]step{{market.StatusContacted, event.ChangeNone, nil}, {market.StatusContacted, event.ChangeDone, nil}},
			"contacted", "buyer: ACCEPTED to contacted, none; buyer: ACCEPTED to contacted, done", "buy_1 reported it as contacted.",
		},
		"too late, then valid": {
			[]step{{market.StatusReturned, event.ChangeNotAllowed, []func(*event.DecidedLeadStatusChange){withReturn("wrong_number")}}, {market.StatusQualified, event.ChangeDone, nil}},
			"qualified", "buyer: ACCEPTED to returned, not_now, wrong_number; buyer: ACCEPTED to qualified, done", "buy_1 reported it as qualified.",
		},
		"returned": {
			[]step{{market.StatusReturned, event.ChangeDone, []func(*event.DecidedLeadStatusChange){withReturn("wrong_number")}}},
			"returned", "buyer: ACCEPTED to returned, done, 12.5 USD and 10 USD, wrong_number",
			"buy_1 returned it: the buyer got 12.5 USD back, and 10 USD of the payout were reversed.",
		},
		"returned for an unlisted reason": {
			[]step{{market.StatusReturned, event.ChangeDone, []func(*event.DecidedLeadStatusChange){withReturn("Ann Lee hung up")}}},
			"returned", "buyer: ACCEPTED to returned, done, 12.5 USD and 10 USD, " + withheldReason, "buy_1 returned it",
		},
		"a test lead is returned": {
			[]step{{market.StatusReturned, event.ChangeDone, nil}},
			"returned", "buyer: ACCEPTED to returned, done", "The buyer acknowledged the lead. buy_1 returned it.",
		},
		"pending": {
			[]step{{market.StatusReturned, event.ChangePending, []func(*event.DecidedLeadStatusChange){withReturn("no_consent")}}},
			"ACCEPTED", "buyer: ACCEPTED to returned, waits, no_consent", "buy_1 asked to return it; the return waits for an operator's approval.",
		},
		"pending, then approved": {
			[]step{{market.StatusReturned, event.ChangePending, []func(*event.DecidedLeadStatusChange){withReturn("no_consent")}}, {market.StatusReturned, event.ChangeDone, []func(*event.DecidedLeadStatusChange){withReturn(""), wasPending}}},
			"returned", "buyer: ACCEPTED to returned, waits, no_consent; operator: ACCEPTED to returned, done, 12.5 USD and 10 USD",
			"buy_1 returned it: the buyer got 12.5 USD back",
		},
		"pending, then refused": {
			[]step{{market.StatusReturned, event.ChangePending, []func(*event.DecidedLeadStatusChange){withReturn("no_consent")}}, {market.StatusReturned, event.ChangeRefused, []func(*event.DecidedLeadStatusChange){withReturn(""), wasPending}}},
			"ACCEPTED", "buyer: ACCEPTED to returned, waits, no_consent; operator: ACCEPTED to returned, refused",
			"buy_1 asked to return it; an operator refused.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newHistory(t)
			c.activateDocument(1, configWithReturnReasons)
			id := c.addDeliveredLead(1)
			for _, step := range row.steps {
				c.AdvanceClock(24 * time.Hour)
				c.AddUnsoldLeads(3)
				c.addReport(id, step.to, step.result, step.change...)
			}
			c.AddUnsoldLeads(3)
			doc := c.mustExplainLead(id)
			if doc.Status != row.status || doc.reportsText() != row.reported || !strings.HasSuffix(doc.Why, row.why) && !strings.Contains(doc.Why, row.why) {
				t.Errorf("%s, %q: %s", doc.Status, doc.reportsText(), doc.Why)
			}
			if doc.Truncated || doc.Delivery != "delivered" || doc.answerText() != "201 ACCEPTED at 1s" || doc.saleText() == "" {
				t.Errorf("truncated %v, %s, %s, %s", doc.Truncated, doc.Delivery, doc.answerText(), doc.saleText())
			}
		})
	}
}

// TestExplainReportRequest: the request id of a report leads to its lead.
func TestExplainReportRequest(t *testing.T) {
	c := newHistory(t)
	id := c.addDeliveredLead(1)
	report := &event.LeadStatusChangesDecided{Request: market.RequestID(c.NewLeadID(50)), Buyer: 1, At: c.Now, Changes: []event.DecidedLeadStatusChange{{Lead: id, To: market.StatusContacted, Result: event.ChangeDone, Supplier: 1}}}
	c.Add(report)
	unknownReport := &event.LeadStatusChangesDecided{Request: market.RequestID(c.NewLeadID(51)), Buyer: 1, At: c.Now, Changes: []event.DecidedLeadStatusChange{{Lead: id, To: market.StatusContacted, Result: event.ChangeUnknown}, {Result: event.ChangeUnknown}}}
	c.Add(unknownReport)
	if doc, err := c.ExplainRequest(report.Request); err != nil || doc.ID != id.String() || doc.Reports[0].RequestID != report.Request.String() {
		t.Errorf("%+v, %v", doc, err)
	}
	if doc, err := c.ExplainRequest(unknownReport.Request); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("%+v, %v", doc, err)
	}
}

// TestExplainReturnReasonsOfTwoVersions: the explanation shows a reason if the campaign lists it
// now, or listed it at the lead's decision.
func TestExplainReturnReasonsOfTwoVersions(t *testing.T) {
	c := newHistory(t)
	c.activateDocument(1, configWithReturnReasons)
	reasons := []string{"wrong_number", "too_old", "unlisted"}
	ids := make([]market.LeadID, len(reasons))
	for i := range reasons {
		ids[i] = c.addDeliveredLead(byte(i + 1))
	}
	c.activateDocument(2, strings.Replace(configWithReturnReasons, "wrong_number", "too_old", 1))
	for i, reason := range reasons {
		c.addReport(ids[i], market.StatusReturned, event.ChangeDone, withReturn(reason))
	}
	for i, want := range []string{"wrong_number", "too_old", withheldReason} {
		if got := c.mustExplainLead(ids[i]).Reports[0].Reason; got != want {
			t.Errorf("reason %s appears as %q", reasons[i], got)
		}
	}
}

// TestExplainReturnReasonsWithoutList: without a list of reasons, the explanation withholds each reason and
// says why, because also one in the form of a code may contain a name.
func TestExplainReturnReasonsWithoutList(t *testing.T) {
	c := newHistory(t)
	c.activateConfig(1, "buy_1", "buy_2")
	reasons := map[string]string{
		"de_la_cruz_hung_up": "(withheld: the campaign has no list of reasons, so the text may contain contact data)",
		"Ann Lee hung up":    withheldReasonNoList,
		withheld:             withheld,
	}
	ids := map[string]market.LeadID{}
	for reason := range reasons {
		ids[reason] = c.addDeliveredLead(byte(len(ids) + 1))
		c.addReport(ids[reason], market.StatusReturned, event.ChangeDone, withReturn(reason))
	}
	for reason, want := range reasons {
		doc, found := c.Explainer.ExplainLead(ids[reason])
		if found != nil || doc.Reports[0].Reason != want {
			t.Errorf("%q: %+v, %v, want %q", reason, doc, found, want)
		}
	}
}

// withWebhook sets the webhook that a settlement causes.
func withWebhook(kind market.WebhookType) func(*event.PostSettled) {
	return func(s *event.PostSettled) { s.Webhook, s.Supplier = kind, 1 }
}

// addWebhookAttempt records an attempt to send a webhook.
func (c *history) addWebhookAttempt(id market.LeadID, kind market.WebhookType, attempt uint32, outcome event.WebhookOutcomeOrDecision, change ...func(*event.WebhookAttemptedOrDecided)) {
	c.t.Helper()
	ev := &event.WebhookAttemptedOrDecided{Lead: id, Type: kind, Supplier: 1, Attempt: attempt, Outcome: outcome, At: c.Now}
	if outcome == event.WebhookFailed {
		ev.Due = c.Now + int64(time.Minute)
	}
	for _, do := range change {
		do(ev)
	}
	c.Add(ev)
}

// webhooksText returns the webhooks of an explanation, with the outcomes of their
// attempts.
func (x *Explanation) webhooksText() string {
	var all []string
	for i := range x.Webhooks {
		h := &x.Webhooks[i]
		text := h.Type + " " + h.State + ":"
		for j := range h.Attempts {
			text += fmt.Sprintf(" %d %s", h.Attempts[j].Attempt, h.Attempts[j].Outcome)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// TestExplainWebhooks: the attempts of a webhook and its state after them.
func TestExplainWebhooks(t *testing.T) {
	const posted = market.WebhookPosted
	type attempt struct {
		n       uint32
		outcome event.WebhookOutcomeOrDecision
	}
	for want, attempts := range map[string][]attempt{
		"lead.posted pending:":                                        nil,
		"lead.posted delivered: 1 delivered":                          {{1, event.WebhookDelivered}},
		"lead.posted pending: 1 failed":                               {{1, event.WebhookFailed}},
		"lead.posted delivered: 1 failed 2 failed 3 delivered":        {{1, event.WebhookFailed}, {2, event.WebhookFailed}, {3, event.WebhookDelivered}},
		"lead.posted dead: 1 failed 2 dead":                           {{1, event.WebhookFailed}, {2, event.WebhookDead}},
		"lead.posted pending: 1 dead 0 resent":                        {{1, event.WebhookDead}, {0, event.WebhookResent}},
		"lead.posted delivered: 1 dead 0 resent 1 failed 2 delivered": {{1, event.WebhookDead}, {0, event.WebhookResent}, {1, event.WebhookFailed}, {2, event.WebhookDelivered}},
		"lead.posted dropped: 1 dead 0 dropped":                       {{1, event.WebhookDead}, {0, event.WebhookDropped}},
	} {
		t.Run(want, func(t *testing.T) {
			c := newHistory(t)
			id := c.addDeliveredLead(1, withWebhook(posted))
			for _, a := range attempts {
				c.AdvanceClock(6 * time.Hour)
				c.AddUnsoldLeads(2)
				c.addWebhookAttempt(id, posted, a.n, a.outcome)
			}
			c.AddUnsoldLeads(2)
			if doc := c.mustExplainLead(id); doc.webhooksText() != want || doc.Truncated || doc.Webhooks[0].Created != NanosAsRFC3339(logtest.Start+1e9) {
				t.Errorf("%s, truncated %v", doc.webhooksText(), doc.Truncated)
			}
		})
	}
}

// TestExplainWebhooksOfAllEvents: a decision, a settlement and a report each cause a
// webhook. The explanation lists them in the order of their causes, with status and fault.
func TestExplainWebhooksOfAllEvents(t *testing.T) {
	c := newHistory(t)
	unsold := c.NewLeadID(1)
	c.Add(&event.LeadDecided{Lead: unsold, Campaign: 1, Supplier: 1, Catalog: 1, Reason: market.ReasonNoBuyer, Webhook: market.WebhookUnmatched, Keep: c.Now + 1e15})
	c.addWebhookAttempt(unsold, market.WebhookUnmatched, 1, event.WebhookDelivered, func(h *event.WebhookAttemptedOrDecided) { h.Status = 204 })
	if doc := c.mustExplainLead(unsold); doc.webhooksText() != "lead.unmatched delivered: 1 delivered" || doc.Webhooks[0].Attempts[0].Status != 204 {
		t.Error(doc.webhooksText())
	}
	id := c.addDeliveredLead(2, withWebhook(market.WebhookPosted))
	c.addWebhookAttempt(id, market.WebhookPosted, 1, event.WebhookFailed, func(h *event.WebhookAttemptedOrDecided) { h.Fault = market.FaultConnect })
	c.addReport(id, market.StatusContacted, event.ChangeDone, func(change *event.DecidedLeadStatusChange) { change.Webhook = market.WebhookContacted })
	c.addWebhookAttempt(id, market.WebhookContacted, 1, event.WebhookDelivered)
	c.addWebhookAttempt(id, market.WebhookPosted, 2, event.WebhookDelivered)
	doc := c.mustExplainLead(id)
	if doc.webhooksText() != "lead.posted delivered: 1 failed 2 delivered; lead.contacted delivered: 1 delivered" {
		t.Error(doc.webhooksText())
	}
	if first := doc.Webhooks[0].Attempts[0]; first.Fault != "connect" || first.Next != first.At+NanosAsRFC3339(time.Minute) {
		t.Errorf("%+v", first)
	}
	text, err := json.Marshal(doc)
	if err != nil || !strings.Contains(string(text), `"webhooks":[{"type":"lead.posted","owed_at":`) || !strings.Contains(string(text), `"reports":[{"at":`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestExplainWebhooksSwitchedOff: a webhook that is caused while the supplier's webhooks
// are off is dead from the start.
func TestExplainWebhooksSwitchedOff(t *testing.T) {
	c := newHistory(t)
	c.Add(&event.SupplierWebhooksTurnedOnOrOff{Supplier: 1, Off: true, At: c.Now})
	id := c.addDeliveredLead(1, withWebhook(market.WebhookPosted))
	if doc := c.mustExplainLead(id); doc.webhooksText() != "lead.posted dead:" || doc.Truncated {
		t.Error(doc.webhooksText())
	}
}

// TestExplainReadsNoFurtherThanNeeded: the search ends when the events explain everything
// in memory, before the end of the log. If the limit ends it earlier, the explanation is
// marked as truncated and still has the lead's current status.
func TestExplainReadsNoFurtherThanNeeded(t *testing.T) {
	c := newHistory(t)
	id := c.addDeliveredLead(1, withWebhook(market.WebhookPosted))
	c.addWebhookAttempt(id, market.WebhookPosted, 1, event.WebhookDelivered)
	c.addReport(id, market.StatusContacted, event.ChangeDone)
	until := c.Seq
	c.AddUnsoldLeads(30)
	c.limits.entries = int(until)
	if doc := c.mustExplainLead(id); doc.Truncated || doc.Status != "contacted" || doc.webhooksText() != "lead.posted delivered: 1 delivered" {
		t.Errorf("within limits: truncated %v, %s, %s", doc.Truncated, doc.Status, doc.webhooksText())
	}
	c.AdvanceClock(30 * 24 * time.Hour)
	c.addReport(id, market.StatusSold, event.ChangeDone)
	if doc := c.mustExplainLead(id); !doc.Truncated || doc.Status != "sold" || len(doc.Reports) != 1 {
		t.Errorf("beyond the limits: truncated %v, %s, %q", doc.Truncated, doc.Status, doc.reportsText())
	}
	c.limits = defaultLimits
	if doc := c.mustExplainLead(id); doc.Truncated || doc.Status != "sold" || len(doc.Reports) != 2 {
		t.Errorf("default limits: truncated %v, %s, %q", doc.Truncated, doc.Status, doc.reportsText())
	}
	c.limits.entries = 1
	if doc := c.mustExplainLead(id); !doc.Truncated || doc.Status != "sold" || doc.Delivery != "delivered" {
		t.Errorf("limit of one entry: truncated %v, %s, %s", doc.Truncated, doc.Status, doc.Delivery)
	}
}

// TestExplainAgreesWithMemoryAfterSale: after any reports and webhooks of interleaved
// leads, each explanation is complete and agrees with memory.
func TestExplainAgreesWithMemoryAfterSale(t *testing.T) {
	c := newHistory(t)
	c.activateDocument(1, configWithReturnReasons)
	n := byte(0)
	rapid.Check(t, func(rt *rapid.T) {
		n++
		ids := []market.LeadID{c.addDeliveredLead(2*n, withWebhook(market.WebhookPosted)), c.addDeliveredLead(2*n+1, withWebhook(market.WebhookPosted))}
		for range rapid.IntRange(0, 12).Draw(rt, "events") {
			c.AdvanceClock(time.Duration(rapid.IntRange(0, 40).Draw(rt, "hours")) * time.Hour)
			c.addRandomEvent(rt, rapid.SampledFrom(ids).Draw(rt, "lead"))
		}
		for _, id := range ids {
			doc, row := c.mustExplainLead(id), mustRow(rt, c, id)
			if doc.Status != row.Status.String() || doc.Truncated {
				rt.Fatalf("explained as %s, memory has %s; truncated %v", doc.Status, row.Status, doc.Truncated)
			}
			for i := range doc.Webhooks {
				h := &doc.Webhooks[i]
				want := "delivered"
				for kind := market.WebhookPosted; int(kind) < market.WebhookTypeCount; kind++ {
					if queued, ok := c.State.FindWebhook(id, kind); ok && kind.String() == h.Type {
						if want = "pending"; queued.Dead {
							want = "dead"
						}
					}
				}
				if h.State != want && (h.State != "dropped" || want != "delivered") {
					rt.Fatalf("%s: explained as %s, memory has %s", h.Type, h.State, want)
				}
			}
		}
	})
}

// addRandomEvent records a possible next event of a lead: a report that its status allows, or an
// attempt to send its webhook.
func (c *history) addRandomEvent(rt *rapid.T, id market.LeadID) {
	row := mustRow(rt, c, id)
	kind := market.WebhookType(rapid.IntRange(int(market.WebhookPosted), int(market.WebhookReturned)).Draw(rt, "webhook"))
	if webhook, queued := c.State.FindWebhook(id, kind); queued {
		outcomes := []event.WebhookOutcomeOrDecision{event.WebhookDelivered, event.WebhookFailed, event.WebhookDead}
		if webhook.Dead {
			outcomes = []event.WebhookOutcomeOrDecision{event.WebhookResent, event.WebhookDropped}
		}
		c.addWebhookAttempt(id, kind, webhook.Attempts+1, rapid.SampledFrom(outcomes).Draw(rt, "outcome"))
		return
	}
	to := market.LeadStatus(rapid.IntRange(int(market.StatusContacted), int(market.StatusReturned)).Draw(rt, "to"))
	from := func(change *event.DecidedLeadStatusChange) { change.From = row.Status }
	switch {
	case !row.Status.CanReportChangeTo(to) || to == market.StatusReturned && row.ReturnState() == market.ReturnRefused:
		c.addReport(id, to, event.ChangeNotAllowed, from)
	case row.ReturnState() == market.ReturnPending:
		result := rapid.SampledFrom([]event.LeadStatusChangeResult{event.ChangeDone, event.ChangeRefused}).Draw(rt, "the operator's decision")
		c.addReport(id, market.StatusReturned, result, from, func(change *event.DecidedLeadStatusChange) { change.WasPending = true })
	case to == market.StatusReturned && rapid.Bool().Draw(rt, "an operator decides"):
		c.addReport(id, to, event.ChangePending, from)
	default:
		c.addReport(id, to, event.ChangeDone, from, func(change *event.DecidedLeadStatusChange) { change.Webhook = to.WebhookTypeOfReport() })
	}
}
