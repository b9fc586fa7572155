package timeline

import (
	"fmt"

	"pingpost/exchange/explain"
)

// buyerReportOrOperatorDecisionRows returns a timeline row for each status report of a buyer, such as a
// return, and for each decision of an operator on a return.
func buyerReportOrOperatorDecisionRows(explained *explain.Explanation) (rows []timelineRow) {
	for i := range explained.Reports {
		r := &explained.Reports[i]
		actor := r.Buyer
		if r.By == "operator" {
			actor = r.By
		}
		rows = append(rows, timelineRow{at: r.At, actor: actor, action: describeStatusReport(r), detail: describeStatusReportDetails(explained, r)})
	}
	return rows
}

// describeStatusReport returns the action of the buyer or operator in a status report, in a few
// words.
func describeStatusReport(r *explain.BuyerReportOrOperatorDecision) string {
	switch {
	case r.By == "operator" && r.Result == "refused":
		return "refuses the return"
	case r.By == "operator":
		return "approves the return"
	case r.To == "returned" && r.Result != "done":
		return "asks to return"
	case r.To == "returned":
		return "returns it"
	}
	return "reports " + r.To
}

// notApplied has the texts for the results of reports without a change.
var notApplied = map[string]string{
	"none":    "no change",
	"waits":   "waits for an operator",
	"unknown": "the buyer has no such lead",
	"not_now": "rejected: not possible from the lead's status",
	"invalid": "rejected: the report is invalid",
}

// describeStatusReportDetails returns the details of a status report: date, result, money and
// reason.
func describeStatusReportDetails(explained *explain.Explanation, r *explain.BuyerReportOrOperatorDecision) string {
	var money, caps, occurred string
	if r.Credit != nil && r.Reversed != nil {
		money = r.Credit.String() + " back to the buyer, " + r.Reversed.String() + " back from the supplier"
	}
	if r.Caps > 0 {
		caps = fmt.Sprintf("%d caps released", r.Caps)
	}
	if r.Occurred != 0 {
		occurred = "reported time " + formatInstant(r.Occurred)
	}
	return joinNonEmpty(timeIfDayOrMoreLater(explained, r.At), notApplied[r.Result], money, caps, prefixNonEmpty("reason ", r.Reason), occurred)
}

// webhookRows returns a timeline row for each attempt to send a webhook to the supplier. If no
// attempt shows the webhook's state, the state gets a row at the time of the webhook's cause.
func webhookRows(explained *explain.Explanation) (rows []timelineRow) {
	for i := range explained.Webhooks {
		h := &explained.Webhooks[i]
		for j := range h.Attempts {
			a := &h.Attempts[j]
			rows = append(rows, timelineRow{at: a.At, actor: explained.Supplier, action: "webhook", detail: joinNonEmpty(timeIfDayOrMoreLater(explained, a.At), describeWebhookAttempt(h, a))})
		}
		if n := len(h.Attempts); n == 0 || h.Attempts[n-1].Outcome != h.State && h.State != "pending" {
			rows = append(rows, timelineRow{at: h.Created, actor: explained.Supplier, action: "webhook", detail: joinNonEmpty(timeIfDayOrMoreLater(explained, h.Created), h.Type+": "+describeWebhookStateWithoutAttempt(h.State))})
		}
	}
	return rows
}

// describeWebhookStateWithoutAttempt describes a webhook's state if no attempt in the explanation shows
// it: the webhook was not sent yet, or never, or the search ended before its result.
func describeWebhookStateWithoutAttempt(webhookState string) string {
	switch webhookState {
	case "pending":
		return "pending, not sent yet"
	case "dead":
		return "dead letter, not sent: the supplier's webhooks are switched off"
	}
	return "the search ended before its result"
}

// describeWebhookAttempt returns the result of an attempt to send a webhook, for the
// timeline.
func describeWebhookAttempt(webhook *explain.SupplierWebhook, attempt *explain.WebhookAttemptOrDecision) string {
	switch attempt.Outcome {
	case "resent":
		return webhook.Type + ": an operator sent it again"
	case "dropped":
		return webhook.Type + ": an operator dropped it"
	}
	text := fmt.Sprintf("%s, attempt %d: ", webhook.Type, attempt.Attempt)
	switch attempt.Outcome {
	case "delivered":
		return text + fmt.Sprintf("HTTP %d, acknowledged", attempt.Status)
	case "dead":
		return text + describeFailure(attempt.Status, attempt.Fault, "") + "; the last attempt, now a dead letter"
	}
	return text + describeFailure(attempt.Status, attempt.Fault, "") + "; next attempt at " + formatInstant(attempt.Next)
}

// aDay after the lead's arrival, a line shows the date in addition to the milliseconds.
const aDay = explain.NanosAsRFC3339(24 * 60 * 60 * 1_000_000_000)

// timeIfDayOrMoreLater returns the date and time of an event that came a day or more after the lead,
// otherwise "". The details of the event begin with it.
func timeIfDayOrMoreLater(explained *explain.Explanation, eventTime explain.NanosAsRFC3339) string {
	if eventTime-explained.Received < aDay {
		return ""
	}
	return formatInstant(eventTime)
}
