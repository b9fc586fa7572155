package witness

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// pathBatch is the path of batches of status reports.
const pathBatch = "/v1/leads/status"

// reportPath returns the path of status reports on a lead.
func reportPath(lead string) string { return "/v1/leads/" + lead + "/status" }

// statusReport is a lead's status in a request or an answer.
type statusReport struct {
	Lead   string `json:"lead_id"`
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
	Return string `json:"return,omitempty"`
	Error  string `json:"error,omitempty"`
}

// isStatusReport reports whether the request is a buyer's status report.
func (o *clientRequest) isStatusReport() bool {
	return strings.HasPrefix(o.path, "/v1/leads/")
}

// sendAndRecord sends a request until it is answered, and records the answer.
func (c *SupplierPool) sendAndRecord(ctx context.Context, client *sellerClient, l *answerLog, o *clientRequest) bool {
	a, ok := client.send(ctx, o)
	if ok {
		l.add(o, a)
	}
	return ok
}

// parseStatusReports parses the answer to a status report or a batch.
func (t *answeredRequest) parseStatusReports() error {
	if t.path != pathBatch {
		var one statusReport
		err := json.Unmarshal([]byte(t.Body), &one)
		t.statusReports = []statusReport{one}
		return err
	}
	var many struct {
		Results []statusReport `json:"results"`
	}
	if err := json.Unmarshal([]byte(t.Body), &many); err != nil {
		return err
	}
	if len(many.Results) == 0 {
		return errors.New("a batch without results")
	}
	t.statusReports = slices.DeleteFunc(many.Results, func(r statusReport) bool { return r.Error == "invalid_transition" && t.mayConflict })
	return nil
}

// statusesAfter returns the statuses that can follow the last one, or none.
func statusesAfter(became []string) []string {
	all := []string{"contacted", "qualified", "sold", "returned"}
	if len(became) == 0 {
		return all
	}
	return all[slices.Index(all, became[len(became)-1])+1:]
}

// applyStatusChanges applies the buyers' status reports.
func (b *logModel) applyStatusChanges(f *eventFields) {
	for _, c := range f.Changes {
		e, reporter := b.leads[c.Lead], b.idOfReference(event.ObjectBuyer, f.Buyer)
		switch {
		case c.Result == "none" || c.Result == "not_now":
		case c.Waited && e != nil:
			b.applyReturnDecision(e, c.Result == "done", c.Credit, c.Reverse)
		case c.Result != "done" && c.Result != "waits":
			b.addViolation("the status report on lead %s has the unknown result %s", c.Lead, c.Result)
		case e == nil || e.state != stateRecorded && e.state != stateDelivered || e.buyer != reporter:
			b.addViolation("%s reports a status of lead %s, which it does not have", reporter, c.Lead)
		case !slices.Contains(e.allowedStatuses(), c.To), (c.Result == "waits") != (c.To == "returned" && b.returnNeedsApproval(e)):
			b.addViolation("lead %s with statuses %q cannot become %s (result %s, return %q)", c.Lead, e.statuses, c.To, c.Result, e.returnState)
		case c.Result == "waits":
			e.returnState = returnWaiting
		default:
			e.statuses = append(e.statuses, c.To)
			b.applyReturn(e, c.Credit, c.Reverse)
		}
	}
}

// applyReturn checks and books the refund. Only a return has one.
func (b *logModel) applyReturn(e *modelLead, credit, reverse market.Money) {
	wanted := market.Money(0)
	if e.isReturned() && !e.isTest {
		wanted = e.price
		if c := b.config.campaignByID(e.campaign); c != nil && c.returnFreesCap {
			b.countCaps(e, -1)
		}
	}
	if credit != wanted || reverse != payout(wanted) {
		b.addViolation("lead %s, sold at %v, statuses %q: credit %v and reversal %v are wrong", e.id, e.price, e.statuses, credit, reverse)
	}
	b.addPayment("return", e, -credit, -reverse)
}

func (e *modelLead) isReturned() bool { return slices.Contains(e.statuses, "returned") }

// checkStatusReports checks that the log holds each acknowledged status report.
func (p *Evidence) checkStatusReports() (found findings) {
	for _, t := range p.statusReports {
		for _, r := range t.statusReports {
			e := p.model.leads[r.Lead]
			if r.Return == "waiting" && e != nil && e.returnState != noReturn {
				continue
			}
			if e == nil || !slices.Contains(e.statuses, r.Status) || t.path != pathBatch && t.path != reportPath(r.Lead) {
				found.add("lead %s: its status %s was acknowledged, but is not in the log", r.Lead, r.Status)
			}
		}
	}
	return found
}
