package explain

import (
	"fmt"
	"net/http"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// describeWhyNotAccepted returns the reason why the buyer of this post does not have the lead: its
// HTTP answer, the fault, or the operator's release of the delivery.
func (p *DeliveryToBuyer) describeWhyNotAccepted() string {
	if len(p.Settlements) == 0 {
		return "the buyer was not reached"
	}
	last := &p.Settlements[len(p.Settlements)-1]
	if last.Outcome == event.SettledReleased.String() {
		return "an operator's release of the delivery" + p.describeAttemptsBeforeUnconfirmed()
	}
	if text := describeFailedPostAttempt(last.Status, last.Fault, last.Code); text != "" {
		return text
	}
	return "the buyer was not reached"
}

// describeAttemptsBeforeUnconfirmed returns how many attempts failed before the delivery was unconfirmed, and
// how the last one ended: " after 6 failed attempts, the last with HTTP 500". It returns "" if no
// attempt is known.
func (p *DeliveryToBuyer) describeAttemptsBeforeUnconfirmed() string {
	unconfirmed := p.lastUnconfirmed()
	if unconfirmed == nil || unconfirmed.Failed == 0 {
		return ""
	}
	text := fmt.Sprintf(" after %d failed attempts, the last with ", unconfirmed.Failed)
	if unconfirmed.Failed == 1 {
		text = " after a failed attempt with "
	}
	if last := describeFailedPostAttempt(unconfirmed.Status, unconfirmed.Fault, unconfirmed.Code); last != "" {
		return text + last
	}
	return text + "no recorded answer"
}

// lastUnconfirmed returns the last settlement that left the delivery unconfirmed, or nil.
func (p *DeliveryToBuyer) lastUnconfirmed() *DeliveryStateChange {
	for i := len(p.Settlements) - 1; i >= 0; i-- {
		if p.Settlements[i].Outcome == event.SettledUnknown.String() {
			return &p.Settlements[i]
		}
	}
	return nil
}

// describeFailedPostAttempt returns how an attempt to post ended that did not deliver the lead: the status and
// the buyer's code, or the fault. It returns "" if neither is recorded. A 2xx without a fault did not
// deliver the lead only if its body has a rejection.
func describeFailedPostAttempt(status uint32, fault FaultName, code string) string {
	if status == 0 {
		return fault.Description()
	}
	text := fmt.Sprintf("HTTP %d", status)
	switch {
	case isSuccess(status) && fault != "":
		return text + ", " + fault.Description()
	case isSuccess(status) && code != "":
		return text + " with a rejection in the body: " + code
	case status == http.StatusOK, status == http.StatusCreated:
		return text + " with a rejection in the body"
	case code != "":
		return text + " " + code
	}
	return text
}

func isSuccess(status uint32) bool {
	return status >= http.StatusOK && status < http.StatusMultipleChoices
}

// describeDoubt returns the reason why it is unknown whether the buyer of an unconfirmed delivery has
// the lead. After an attempt without a clear answer, a refusal of a later attempt is no proof: the
// buyer may refuse it because it has the lead.
func (p *DeliveryToBuyer) describeDoubt() string {
	attempts := p.Tries
	if last := p.lastUnconfirmed(); last != nil && (last.Status != 0 || last.Fault != "") {
		attempts = append(attempts[:len(attempts):len(attempts)], FailedPostAttempt{
			Attempt: uint32(len(attempts)) + 1, Status: last.Status, Fault: last.Fault, Code: last.Code,
		})
	}
	var unclear, refusal *FailedPostAttempt
	for i := range attempts {
		switch try := &attempts[i]; {
		case try.isUnclear() && unclear == nil:
			unclear = try
		case try.isRefusal():
			refusal = try
		}
	}
	switch {
	case refusal == nil:
		return "no attempt got a clear answer, so the buyer may have the lead"
	case unclear == nil:
		return fmt.Sprintf("an earlier attempt has no recorded answer, so a refusal (%s) does not prove that the buyer does not have the lead", refusal.describe())
	case refusal.Attempt < unclear.Attempt:
		return fmt.Sprintf("attempt %d got no clear answer (%s), so the buyer may have the lead", unclear.Attempt, unclear.describe())
	}
	return fmt.Sprintf("attempt %d got no clear answer (%s), so a later refusal (%s) does not prove that the buyer does not have the lead", unclear.Attempt, unclear.describe(), refusal.describe())
}

func (t *FailedPostAttempt) describe() string {
	return describeFailedPostAttempt(t.Status, t.Fault, t.Code)
}

// isUnclear reports whether the buyer may have the lead after this attempt. The status and the fault
// decide if the log has no verdict.
func (t *FailedPostAttempt) isUnclear() bool {
	if t.Verdict != "" {
		return t.Verdict == market.VerdictUnknown.String()
	}
	return !t.isRefusal() && (t.Status != 0 || t.Fault == nameOfFault(market.FaultTimeout) || t.Fault == nameOfFault(market.FaultBroken))
}

// isRefusal reports whether the buyer answered that it does not accept the lead, now or ever.
func (t *FailedPostAttempt) isRefusal() bool {
	switch {
	case t.Verdict != "":
		return t.Verdict == market.VerdictRefused.String() || t.Verdict == market.VerdictBusy.String()
	case isSuccess(t.Status):
		return t.Fault == "" && t.Code != ""
	}
	return t.Status >= http.StatusMultipleChoices && t.Status < http.StatusInternalServerError && t.Status != http.StatusRequestTimeout
}

// describeAcceptanceWithRejectionBody returns a sentence if the body of the accepting answer looks like a
// rejection, or "". The HTTP status decides, so the lead is sold.
func (p *DeliveryToBuyer) describeAcceptanceWithRejectionBody() string {
	if last := len(p.Settlements) - 1; last >= 0 && p.Settlements[last].Outcome == event.SettledDelivered.String() && p.Settlements[last].Code != "" {
		return fmt.Sprintf(" But the body of its answer looks like a rejection (%s). The answer's status, HTTP %d, decides.", p.Settlements[last].Code, p.Settlements[last].Status)
	}
	return ""
}
