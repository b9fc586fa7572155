package exchange

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
)

// returning is a campaign whose leads come back for two reasons.
const returning = `{"campaigns":[{"id":"cmp","method":"waterfall","buyers":[{"buyer":"buy_1"},{"buyer":"buy_2"}],"returns":{"reasons":["wrong_number","no_consent"]}}]}`

// bought is a lead that the first buyer has, an hour before a report.
func (c *chronicle) bought(n byte, change ...func(*event.PostSettled)) market.LeadID {
	c.t.Helper()
	id := c.draw(n)
	c.posted(id)
	c.later(time.Second)
	c.settled(id, event.SettledDelivered, change...)
	c.later(time.Hour)
	return id
}

// reports writes a buyer's report of a lead.
func (c *chronicle) reports(id market.LeadID, to market.Status, result event.ChangeResult, change ...func(*event.Change)) {
	c.t.Helper()
	one := event.Change{Lead: id, From: market.StatusAccepted, To: to, Result: result, Supplier: 1}
	for _, do := range change {
		do(&one)
	}
	c.add(&event.StatusChanged{Request: market.RequestID{77, byte(c.seq)}, Buyer: 1, At: c.now, Changes: []event.Change{{Lead: market.LeadID{1}, Result: event.ChangeUnknown}, one}})
}

// givenBack is what a return gives back.
func givenBack(reason string) func(*event.Change) {
	return func(c *event.Change) {
		c.Reason = reason
		c.Return = event.Return{Campaign: 1, Credit: 12_500_000, Reverse: 10_000_000, Currency: market.Currency{'U', 'S', 'D'}, Month: market.MonthOf(dawn)}
	}
}

// reported are the reports of an explanation, a line each.
func (x *Explanation) reported() string {
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

// TestExplainReports: what became of a lead after its sale, report by report: where it
// stands, what was given back, and who said so. What changed nothing is told too.
func TestExplainReports(t *testing.T) {
	waited := func(c *event.Change) { c.Waited = true }
	type step struct {
		to     market.Status
		result event.ChangeResult
		change []func(*event.Change)
	}
	for name, row := range map[string]struct {
		steps    []step
		status   string
		reported string
		why      string
	}{
		"nothing":   {nil, "ACCEPTED", "", "which has acknowledged it."},
		"contacted": {[]step{{market.StatusContacted, event.ChangeDone, nil}}, "contacted", "buyer: ACCEPTED to contacted, done", "buy_1 reports it contacted."},
		"sold on": {
			[]step{{market.StatusContacted, event.ChangeDone, nil}, {market.StatusSold, event.ChangeDone, []func(*event.Change){func(c *event.Change) { c.From = market.StatusContacted }}}},
			"sold", "buyer: ACCEPTED to contacted, done; buyer: contacted to sold, done", "buy_1 reports it sold.",
		},
		"said twice": {
			[]step{{market.StatusContacted, event.ChangeNone, nil}, {market.StatusContacted, event.ChangeDone, nil}},
			"contacted", "buyer: ACCEPTED to contacted, none; buyer: ACCEPTED to contacted, done", "buy_1 reports it contacted.",
		},
		"too late, and then in order": {
			[]step{{market.StatusReturned, event.ChangeNotNow, []func(*event.Change){givenBack("wrong_number")}}, {market.StatusQualified, event.ChangeDone, nil}},
			"qualified", "buyer: ACCEPTED to returned, not_now, wrong_number; buyer: ACCEPTED to qualified, done", "buy_1 reports it qualified.",
		},
		"returned": {
			[]step{{market.StatusReturned, event.ChangeDone, []func(*event.Change){givenBack("wrong_number")}}},
			"returned", "buyer: ACCEPTED to returned, done, 12.5 USD and 10 USD, wrong_number",
			"buy_1 gave it back: 12.5 USD went back to the buyer, and 10 USD of the payout were taken back.",
		},
		"returned for words of one's own": {
			[]step{{market.StatusReturned, event.ChangeDone, []func(*event.Change){givenBack("Ann Lee hung up")}}},
			"returned", "buyer: ACCEPTED to returned, done, 12.5 USD and 10 USD, " + unlisted, "buy_1 gave it back",
		},
		"a test comes back": {
			[]step{{market.StatusReturned, event.ChangeDone, nil}},
			"returned", "buyer: ACCEPTED to returned, done", "which has acknowledged it. buy_1 gave it back.",
		},
		"waiting": {
			[]step{{market.StatusReturned, event.ChangeWaits, []func(*event.Change){givenBack("no_consent")}}},
			"ACCEPTED", "buyer: ACCEPTED to returned, waits, no_consent", "buy_1 wants to give it back, which waits for the operator.",
		},
		"waited, and granted": {
			[]step{{market.StatusReturned, event.ChangeWaits, []func(*event.Change){givenBack("no_consent")}}, {market.StatusReturned, event.ChangeDone, []func(*event.Change){givenBack(""), waited}}},
			"returned", "buyer: ACCEPTED to returned, waits, no_consent; operator: ACCEPTED to returned, done, 12.5 USD and 10 USD",
			"buy_1 gave it back: 12.5 USD went back to the buyer",
		},
		"waited, and refused": {
			[]step{{market.StatusReturned, event.ChangeWaits, []func(*event.Change){givenBack("no_consent")}}, {market.StatusReturned, event.ChangeRefused, []func(*event.Change){givenBack(""), waited}}},
			"ACCEPTED", "buyer: ACCEPTED to returned, waits, no_consent; operator: ACCEPTED to returned, refused",
			"buy_1 wanted to give it back, which the operator refused.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newChronicle(t)
			c.document(1, returning)
			id := c.bought(1)
			for _, step := range row.steps {
				c.later(24 * time.Hour)
				c.among(3)
				c.reports(id, step.to, step.result, step.change...)
			}
			c.among(3)
			told := c.told(id)
			if told.Status != row.status || told.reported() != row.reported || !strings.HasSuffix(told.Why, row.why) && !strings.Contains(told.Why, row.why) {
				t.Errorf("%s, %q: %s", told.Status, told.reported(), told.Why)
			}
			if told.Truncated || told.Delivery != "delivered" || told.answered() != "201 ACCEPTED at 1s" || told.money() == "" {
				t.Errorf("truncated %v, %s, %s, %s", told.Truncated, told.Delivery, told.answered(), told.money())
			}
		})
	}
}

// TestExplainAReportsRequest: the request id of a report leads to its lead.
func TestExplainAReportsRequest(t *testing.T) {
	c := newChronicle(t)
	id := c.bought(1)
	report := &event.StatusChanged{Request: market.RequestID(c.draw(50)), Buyer: 1, At: c.now, Changes: []event.Change{{Lead: id, To: market.StatusContacted, Result: event.ChangeDone, Supplier: 1}}}
	c.add(report)
	vain := &event.StatusChanged{Request: market.RequestID(c.draw(51)), Buyer: 1, At: c.now, Changes: []event.Change{{Lead: id, To: market.StatusContacted, Result: event.ChangeUnknown}, {Result: event.ChangeUnknown}}}
	c.add(vain)
	if told, err := c.request(report.Request); err != nil || told.ID != id.String() || told.Reports[0].RequestID != report.Request.String() {
		t.Errorf("%+v, %v", told, err)
	}
	if told, err := c.request(vain.Request); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("%+v, %v", told, err)
	}
}

// TestExplainReasonsOfTwoLists: a reason is told where the campaign has it, or had it
// when the lead was decided.
func TestExplainReasonsOfTwoLists(t *testing.T) {
	c := newChronicle(t)
	c.document(1, returning)
	reasons := []string{"wrong_number", "too_old", "nobody's"}
	ids := make([]market.LeadID, len(reasons))
	for i := range reasons {
		ids[i] = c.bought(byte(i + 1))
	}
	c.document(2, strings.Replace(returning, "wrong_number", "too_old", 1))
	for i, reason := range reasons {
		c.reports(ids[i], market.StatusReturned, event.ChangeDone, givenBack(reason))
	}
	for i, want := range []string{"wrong_number", "too_old", unlisted} {
		if got := c.told(ids[i]).Reports[0].Reason; got != want {
			t.Errorf("%s is told as %q", reasons[i], got)
		}
	}
}

// owes is a settlement or a report that owes its supplier a webhook.
func owes(kind market.HookType) func(*event.PostSettled) {
	return func(s *event.PostSettled) { s.Hook, s.Supplier = kind, 1 }
}

func (c *chronicle) hook(id market.LeadID, kind market.HookType, attempt uint32, outcome event.HookOutcome, change ...func(*event.HookTried)) {
	c.t.Helper()
	fact := &event.HookTried{Lead: id, Type: kind, Supplier: 1, Attempt: attempt, Outcome: outcome, At: c.now}
	if outcome == event.HookFailed {
		fact.Due = c.now + int64(time.Minute)
	}
	for _, do := range change {
		do(fact)
	}
	c.add(fact)
}

// hooked are the webhooks of an explanation, with the outcome of each attempt.
func (x *Explanation) hooked() string {
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

// TestExplainWebhooks: how a supplier was told, attempt by attempt, and how that stands.
func TestExplainWebhooks(t *testing.T) {
	const posted = market.HookPosted
	type attempt struct {
		n       uint32
		outcome event.HookOutcome
	}
	for want, attempts := range map[string][]attempt{
		"lead.posted pending:":                                        nil,
		"lead.posted delivered: 1 delivered":                          {{1, event.HookDelivered}},
		"lead.posted pending: 1 failed":                               {{1, event.HookFailed}},
		"lead.posted delivered: 1 failed 2 failed 3 delivered":        {{1, event.HookFailed}, {2, event.HookFailed}, {3, event.HookDelivered}},
		"lead.posted dead: 1 failed 2 dead":                           {{1, event.HookFailed}, {2, event.HookDead}},
		"lead.posted pending: 1 dead 0 resent":                        {{1, event.HookDead}, {0, event.HookResent}},
		"lead.posted delivered: 1 dead 0 resent 1 failed 2 delivered": {{1, event.HookDead}, {0, event.HookResent}, {1, event.HookFailed}, {2, event.HookDelivered}},
		"lead.posted dropped: 1 dead 0 dropped":                       {{1, event.HookDead}, {0, event.HookDropped}},
	} {
		t.Run(want, func(t *testing.T) {
			c := newChronicle(t)
			id := c.bought(1, owes(posted))
			for _, a := range attempts {
				c.later(6 * time.Hour)
				c.among(2)
				c.hook(id, posted, a.n, a.outcome)
			}
			c.among(2)
			if told := c.told(id); told.hooked() != want || told.Truncated || told.Webhooks[0].Owed != Instant(dawn+1e9) {
				t.Errorf("%s, truncated %v", told.hooked(), told.Truncated)
			}
		})
	}
}

// TestExplainWebhooksOfAll: each fact that owes one: a decision, a settlement, a
// report. They are told in the order of their causes, with status and fault.
func TestExplainWebhooksOfAll(t *testing.T) {
	c := newChronicle(t)
	unsold := c.draw(1)
	c.add(&event.LeadDecided{Lead: unsold, Campaign: 1, Supplier: 1, Catalog: 1, Reason: market.ReasonNoBuyer, Hook: market.HookUnmatched, Keep: c.now + 1e15})
	c.hook(unsold, market.HookUnmatched, 1, event.HookDelivered, func(h *event.HookTried) { h.Status = 204 })
	if told := c.told(unsold); told.hooked() != "lead.unmatched delivered: 1 delivered" || told.Webhooks[0].Attempts[0].Status != 204 {
		t.Error(told.hooked())
	}
	id := c.bought(2, owes(market.HookPosted))
	c.hook(id, market.HookPosted, 1, event.HookFailed, func(h *event.HookTried) { h.Fault = market.FaultConnect })
	c.reports(id, market.StatusContacted, event.ChangeDone, func(change *event.Change) { change.Hook = market.HookContacted })
	c.hook(id, market.HookContacted, 1, event.HookDelivered)
	c.hook(id, market.HookPosted, 2, event.HookDelivered)
	told := c.told(id)
	if told.hooked() != "lead.posted delivered: 1 failed 2 delivered; lead.contacted delivered: 1 delivered" {
		t.Error(told.hooked())
	}
	if first := told.Webhooks[0].Attempts[0]; first.Fault != "connect" || first.Next != first.At+Instant(time.Minute) {
		t.Errorf("%+v", first)
	}
	text, err := json.Marshal(told)
	if err != nil || !strings.Contains(string(text), `"webhooks":[{"type":"lead.posted","owed_at":`) || !strings.Contains(string(text), `"reports":[{"at":`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestExplainWebhooksSwitchedOff: what is caused while a supplier's webhooks are off is
// dead from its beginning.
func TestExplainWebhooksSwitchedOff(t *testing.T) {
	c := newChronicle(t)
	c.add(&event.HooksSwitched{Supplier: 1, Off: true, At: c.now})
	id := c.bought(1, owes(market.HookPosted))
	if told := c.told(id); told.hooked() != "lead.posted dead:" || told.Truncated {
		t.Error(told.hooked())
	}
}

// TestExplainReadsNoFurtherThanNeeded: once all is seen that memory has of a lead the
// log is read no further, however long it is; what is out of reach is told as missing,
// and where the lead stands is told all the same.
func TestExplainReadsNoFurtherThanNeeded(t *testing.T) {
	c := newChronicle(t)
	id := c.bought(1, owes(market.HookPosted))
	c.hook(id, market.HookPosted, 1, event.HookDelivered)
	c.reports(id, market.StatusContacted, event.ChangeDone)
	until := c.seq
	c.among(30)
	c.reach.entries = int(until)
	if told := c.told(id); told.Truncated || told.Status != "contacted" || told.hooked() != "lead.posted delivered: 1 delivered" {
		t.Errorf("within reach: %v, %s, %s", told.Truncated, told.Status, told.hooked())
	}
	c.later(30 * 24 * time.Hour)
	c.reports(id, market.StatusSold, event.ChangeDone)
	if told := c.told(id); !told.Truncated || told.Status != "sold" || len(told.Reports) != 1 {
		t.Errorf("out of reach: %v, %s, %q", told.Truncated, told.Status, told.reported())
	}
	c.reach = usualReach
	if told := c.told(id); told.Truncated || told.Status != "sold" || len(told.Reports) != 2 {
		t.Errorf("a month later: %v, %s, %q", told.Truncated, told.Status, told.reported())
	}
	c.reach.entries = 1
	if told := c.told(id); !told.Truncated || told.Status != "sold" || told.Delivery != "delivered" {
		t.Errorf("of no reach: %v, %s, %s", told.Truncated, told.Status, told.Delivery)
	}
}

// TestExplainAgreesWithMemoryAfterwards: through any reports and webhooks of leads that
// lie among each other, a lead stands where memory has it, and so does each webhook;
// and nothing of it is said to be missing.
func TestExplainAgreesWithMemoryAfterwards(t *testing.T) {
	c := newChronicle(t)
	c.document(1, returning)
	n := byte(0)
	rapid.Check(t, func(rt *rapid.T) {
		n++
		ids := []market.LeadID{c.bought(2*n, owes(market.HookPosted)), c.bought(2*n+1, owes(market.HookPosted))}
		for range rapid.IntRange(0, 12).Draw(rt, "facts") {
			c.later(time.Duration(rapid.IntRange(0, 40).Draw(rt, "hours")) * time.Hour)
			c.goesOn(rt, rapid.SampledFrom(ids).Draw(rt, "whose"))
		}
		for _, id := range ids {
			told, row := c.told(id), mustRow(rt, c, id)
			if told.Status != row.Status.String() || told.Truncated {
				rt.Fatalf("told %s, memory has %s; truncated %v", told.Status, row.Status, told.Truncated)
			}
			for i := range told.Webhooks {
				h := &told.Webhooks[i]
				want := "delivered"
				for kind := market.HookPosted; int(kind) < market.HookTypes; kind++ {
					if now, owed := c.state.Hook(id, kind); owed && kind.String() == h.Type {
						if want = "pending"; now.Dead {
							want = "dead"
						}
					}
				}
				if h.State != want && (h.State != "dropped" || want != "delivered") {
					rt.Fatalf("%s: told as %s, memory has it %s", h.Type, h.State, want)
				}
			}
		}
	})
}

// goesOn writes what may come next of a lead: a report that leads on from where it
// stands, or what its supplier's webhooks come to.
func (c *chronicle) goesOn(rt *rapid.T, id market.LeadID) {
	row := mustRow(rt, c, id)
	kind := market.HookType(rapid.IntRange(int(market.HookPosted), int(market.HookReturned)).Draw(rt, "webhook"))
	if hook, owed := c.state.Hook(id, kind); owed {
		outcomes := []event.HookOutcome{event.HookDelivered, event.HookFailed, event.HookDead}
		if hook.Dead {
			outcomes = []event.HookOutcome{event.HookResent, event.HookDropped}
		}
		c.hook(id, kind, hook.Attempts+1, rapid.SampledFrom(outcomes).Draw(rt, "outcome"))
		return
	}
	to := market.Status(rapid.IntRange(int(market.StatusContacted), int(market.StatusReturned)).Draw(rt, "to"))
	from := func(change *event.Change) { change.From = row.Status }
	switch {
	case !row.Status.MayBecome(to) || to == market.StatusReturned && row.Return() == market.ReturnRefused:
		c.reports(id, to, event.ChangeNotNow, from)
	case row.Return() == market.ReturnWaits:
		result := rapid.SampledFrom([]event.ChangeResult{event.ChangeDone, event.ChangeRefused}).Draw(rt, "the operator's word")
		c.reports(id, market.StatusReturned, result, from, func(change *event.Change) { change.Waited = true })
	case to == market.StatusReturned && rapid.Bool().Draw(rt, "an operator decides"):
		c.reports(id, to, event.ChangeWaits, from)
	default:
		c.reports(id, to, event.ChangeDone, from, func(change *event.Change) { change.Hook = to.Hook() })
	}
}
