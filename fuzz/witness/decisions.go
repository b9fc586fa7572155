//go:build unix

package witness

import (
	"math/rand/v2"
	"net/http"
	"time"

	"pingpost/engine/market"
)

// ResolveDeliveries decides every unconfirmed delivery as the operator. It confirms leads that
// the buyer holds, releases the others, and resends a third of all.
func (s *Harness) ResolveDeliveries(random *rand.Rand) {
	s.t.Helper()
	unknown, _ := s.openDeliveries()
	if len(unknown) == 0 {
		return
	}
	leads, _ := s.buyers.readAccounts(s.t)
	holders := endpointsByLead(leads)
	for _, lead := range unknown {
		verb, outcome := "release", "released"
		switch {
		case random.IntN(3) == 0:
			verb, outcome = "resend", "resent"
		case holders[lead] != "":
			verb, outcome = "confirm", "confirmed"
		}
		s.requestAction(operatorAction{"delivery " + outcome + ", lead", lead}, "/admin/v1/deliveries/"+lead+"/"+verb, "")
	}
}

// AwaitAnswers waits until no request is in flight, and resolves unconfirmed deliveries: the
// exchange asks a supplier that repeats such a post to retry until the operator decides. The
// idle exchange must hold no reservation.
func (s *Harness) AwaitAnswers(random *rand.Rand) {
	s.t.Helper()
	looked := time.Now()
	s.AwaitWhileRunning("every lead is answered", func() bool {
		if time.Since(looked) > time.Second {
			s.ResolveDeliveries(random)
			looked = time.Now()
		}
		return s.Suppliers.IsIdle()
	})
	if left := s.Metric("pingpost_reservations"); left != "0" {
		s.t.Errorf("the idle exchange holds %s reservations, expected 0", left)
	}
}

// SettleDeliveries waits until all deliveries are settled, and then repeats every request. It
// resolves unconfirmed deliveries as the operator.
func (s *Harness) SettleDeliveries(random *rand.Rand) {
	s.t.Helper()
	s.AwaitAnswers(random)
	for unknown, total := []string(nil), -1; total != 0; {
		s.ResolveDeliveries(random) // may resend, and each delivery needs its own time
		s.AwaitWhileRunning("every delivery is settled, or waits for the operator", func() bool {
			open := s.Metric("pingpost_open_deliveries") // read first: an unknown delivery does not become open again
			unknown, total = s.openDeliveries()
			return len(unknown) == total && open == "0"
		})
	}
	s.Suppliers.RepeatRequests(0, random)
	s.AwaitAnswers(random)
}

// DecideReturns approves or refuses about half of the pending returns.
func (s *Harness) DecideReturns(random *rand.Rand) {
	s.t.Helper()
	var all openList
	s.AdminGet("/admin/v1/returns", &all)
	for _, r := range all.Returns {
		if random.IntN(2) == 0 {
			continue
		}
		approve, outcome := random.IntN(3) > 0, returnRefused
		if approve {
			outcome = returnApproved
		}
		s.requestAction(operatorAction{"return " + string(outcome) + ", lead", r.Lead}, "/admin/v1/returns/"+r.Lead, string(Encode(Object{"approve": approve})))
	}
}

// returnState is the state of a return that needs approval.
type returnState string

const (
	noReturn       returnState = ""
	returnWaiting  returnState = "waiting"
	returnApproved returnState = "approved"
	returnRefused  returnState = "refused"
)

// allowedStatuses returns the statuses that a lead may take next: none while a return is
// pending, and no return after a refused one.
func (e *modelLead) allowedStatuses() []string {
	all := statusesAfter(e.statuses)
	switch {
	case e.returnState == returnWaiting:
		return nil
	case e.returnState == returnRefused && len(all) > 0:
		return all[:len(all)-1]
	}
	return all
}

func (b *logModel) returnNeedsApproval(e *modelLead) bool {
	c := b.config.campaignByID(e.campaign)
	return c != nil && c.manualReturns
}

// applyReturnDecision applies the operator's decision on a pending return.
func (b *logModel) applyReturnDecision(e *modelLead, approve bool, credit, reverse market.Money) {
	if e.returnState != returnWaiting {
		b.addViolation("lead %s: the operator decides a return, but none is pending (%s)", e.id, e.returnState)
		return
	}
	if e.returnState = returnRefused; approve {
		e.returnState, e.statuses = returnApproved, append(e.statuses, "returned")
		b.applyReturn(e, credit, reverse)
	} else if credit != 0 || reverse != 0 {
		b.addViolation("lead %s: its return is refused, but credit %v and reversal %v are booked", e.id, credit, reverse)
	}
	b.actions[operatorAction{"return " + string(e.returnState) + ", lead", e.id}]++
}

// operatorAction is a top-up, an erasure, or a decision on a lead's delivery or return.
type operatorAction struct{ kind, object string }

// requestAction posts the request for an action, and records the action if the exchange
// acknowledges it.
func (s *Harness) requestAction(action operatorAction, path, body string) {
	status, _, err := s.AdminRequest("POST", path, body)
	if err == nil && status < http.StatusMultipleChoices {
		s.recordAction(action)
	}
}

func (s *Harness) recordAction(action operatorAction) {
	s.actionsMu.Lock()
	defer s.actionsMu.Unlock()
	s.acknowledged = append(s.acknowledged, action)
}

// checkAcknowledged checks that the log holds each acknowledged action of the operator.
func (p *Evidence) checkAcknowledged() (found findings) {
	for _, action := range p.acknowledged {
		if p.model.actions[action] == 0 {
			found.add("%s %s was acknowledged, but is not in the log", action.kind, action.object)
		}
	}
	return found
}
