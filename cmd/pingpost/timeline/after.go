package timeline

import (
	"fmt"
	"strings"

	"pingpost/exchange/explain"
)

// reported are what was said of a lead after its sale, each when it came.
func reported(told *explain.Explanation) (moments []moment) {
	for i := range told.Reports {
		r := &told.Reports[i]
		who := r.Buyer
		if r.By == "operator" {
			who = r.By
		}
		moments = append(moments, moment{at: r.At, who: who, what: reportOf(r), detail: detailOf(told, r)})
	}
	return moments
}

// reportOf is what a report does, in a word or two.
func reportOf(r *explain.Report) string {
	switch {
	case r.By == "operator" && r.Result == "refused":
		return "refuses the return"
	case r.By == "operator":
		return "grants the return"
	case r.To == "returned" && r.Result != "done":
		return "asks to return"
	case r.To == "returned":
		return "returns it"
	}
	return "reports " + r.To
}

// notTaken says why a report changed nothing.
var notTaken = map[string]string{
	"none":    "it was so before",
	"waits":   "it waits for the operator",
	"unknown": "it has no such lead",
	"not_now": "not taken: not from where the lead stands",
	"invalid": "not taken: the report is not in order",
}

func detailOf(told *explain.Explanation, r *explain.Report) string {
	words := since(told, r.At)
	if text := notTaken[r.Result]; text != "" {
		words = append(words, text)
	}
	if r.Credit != nil && r.Reversed != nil {
		words = append(words, r.Credit.String()+" back to the buyer", r.Reversed.String()+" back from the supplier")
	}
	if r.Caps > 0 {
		words = append(words, fmt.Sprintf("room in %d caps", r.Caps))
	}
	if r.Reason != "" {
		words = append(words, "reason "+r.Reason)
	}
	if r.Occurred != 0 {
		words = append(words, "it says at "+dateOf(r.Occurred))
	}
	return strings.Join(words, ", ")
}

// hooks are the webhooks by which a lead's supplier was told, attempt by attempt; one
// that was not tried yet when it was owed.
func hooks(told *explain.Explanation) (moments []moment) {
	for i := range told.Webhooks {
		h := &told.Webhooks[i]
		for j := range h.Attempts {
			a := &h.Attempts[j]
			moments = append(moments, moment{at: a.At, who: told.Supplier, what: "webhook", detail: strings.Join(append(since(told, a.At), attemptOf(h, a)), ", ")})
		}
		if n := len(h.Attempts); n == 0 || h.Attempts[n-1].Outcome != h.State && h.State != "pending" {
			moments = append(moments, moment{at: h.Created, who: told.Supplier, what: "webhook", detail: strings.Join(append(since(told, h.Created), h.Type+": "+stateOf(h.State)), ", ")})
		}
	}
	return moments
}

// stateOf is how a webhook stands of which no attempt tells it.
func stateOf(state string) string {
	switch state {
	case "pending":
		return "owed, not tried yet"
	case "dead":
		return "a dead letter, not tried: webhooks are switched off"
	}
	return "owed; its end is not among what was read"
}

func attemptOf(h *explain.Webhook, a *explain.WebhookAttempt) string {
	switch a.Outcome {
	case "resent":
		return h.Type + ": an operator has it sent again"
	case "dropped":
		return h.Type + ": an operator let it go"
	}
	text := fmt.Sprintf("%s, attempt %d: ", h.Type, a.Attempt)
	switch a.Outcome {
	case "delivered":
		return text + fmt.Sprintf("HTTP %d, acknowledged", a.Status)
	case "dead":
		return text + failureOf(a.Status, a.Fault, "") + "; the last, now a dead letter"
	}
	return text + failureOf(a.Status, a.Fault, "") + "; again at " + dateOf(a.Next)
}

// aDay is long enough after a lead's arrival for a date to say more than milliseconds.
const aDay = explain.Instant(24 * 60 * 60 * 1_000_000_000)

// since begins a detail with the date of what came long after the lead.
func since(told *explain.Explanation, at explain.Instant) []string {
	if at-told.Received < aDay {
		return nil
	}
	return []string{dateOf(at)}
}
