package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pingpost/exchange/explain"
)

// describeFirstDecision returns in a few words the exchange's first decision about the lead or
// ping.
func describeFirstDecision(explained *explain.Explanation) string {
	switch {
	case explained.LeadID == "" && len(explained.Offers) > 0:
		return "the best bid is from " + explained.Offers[0].Buyer
	case explained.LeadID == "":
		return "no bid: " + explained.Reason
	case len(explained.Posts) > 0:
		return "to be posted"
	case explained.Price != nil:
		return "sold to " + explained.Buyer
	}
	return "not sold: " + explained.Reason
}

// postRows returns a timeline row for each event of the delivery of a lead to one buyer. actor names the buyer.
func postRows(post *explain.DeliveryToBuyer, actor string) []timelineRow {
	rows := append(make([]timelineRow, 0, 1+len(post.Tries)+len(post.Settlements)), timelineRow{
		at: post.Intended, actor: actor, action: "post",
		detail: fmt.Sprintf("for %s, payout %s", post.Price, post.Payout),
	})
	for i := range post.Tries {
		try := &post.Tries[i]
		rows = append(rows, timelineRow{at: try.Ended, actor: actor, action: fmt.Sprintf("try %d %s", try.Attempt, describeFailedAttempt(try)), detail: describeFailure(try.Status, try.Fault, try.Code)})
	}
	for i := range post.Settlements {
		s, action := &post.Settlements[i], post.Settlements[i].Outcome
		if action == "refused" && s.Status == 0 {
			action = "not reached" // the log has one word for both: the buyer does not have the lead
		}
		rows = append(rows, timelineRow{at: s.At, actor: actor, action: action, detail: describeDeliveryResult(s)})
	}
	return rows
}

// rowOfSaleWithoutPostAfterRefusals returns the timeline row of a sale to a buyer without an endpoint, after
// other buyers had refused the lead. found is false if there is no such sale.
func rowOfSaleWithoutPostAfterRefusals(explained *explain.Explanation) (row timelineRow, found bool) {
	if explained.LeadID == "" || explained.Price == nil || explained.Payout == nil || len(explained.Posts) == 0 {
		return row, false
	}
	last := &explained.Posts[len(explained.Posts)-1]
	if len(last.Settlements) == 0 || slices.ContainsFunc(explained.Posts, func(p explain.DeliveryToBuyer) bool { return p.Buyer == explained.Buyer }) {
		return row, false
	}
	return timelineRow{
		at: last.Settlements[len(last.Settlements)-1].At, actor: explained.Buyer, action: "sale recorded",
		detail: fmt.Sprintf("for %s, payout %s", explained.Price, explained.Payout),
	}, true
}

// describeFailedAttempt returns in a word or two how a failed attempt to post a lead ended.
func describeFailedAttempt(try *explain.FailedPostAttempt) string {
	switch try.Verdict {
	case "refused":
		return "refused"
	case "busy":
		return "busy"
	case "unreached":
		return "not reached"
	}
	return "failed"
}

// describeFailure returns the reason why an attempt to deliver a lead or a webhook did not
// succeed.
func describeFailure(httpStatus uint32, fault explain.FaultName, buyerCode string) string {
	return cmp.Or(joinNonEmpty(describeHTTPStatus(httpStatus), fault.Description(), buyerCode), "no usable answer")
}

// joinNonEmpty joins the texts that are not empty with commas.
func joinNonEmpty(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), ", ")
}

// prefixNonEmpty returns the text after the prefix, or "" for an empty text.
func prefixNonEmpty(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// describeHTTPStatus returns "" for the status 0, which means that there was no answer.
func describeHTTPStatus(status uint32) string {
	if status == 0 {
		return ""
	}
	return fmt.Sprintf("HTTP %d", status)
}

// describeDeliveryResult describes the result of a delivery (settlement) for the timeline. A
// pending one has no further details: the attempt that it refers to has its own line, or is
// still running.
func describeDeliveryResult(s *explain.DeliveryStateChange) string {
	if s.Outcome == "pending" {
		if s.Status == 0 && s.Fault == "" {
			return "continued after a restart; the attempts continue"
		}
		return "the answer was due; the attempts continue"
	}
	answer := describeHTTPStatus(s.Status)
	if answer != "" {
		answer += " after " + formatMillisecondsWithoutUnit(int64(s.Elapsed)) + " ms"
	}
	code := s.Code
	if s.Outcome == "delivered" {
		code = prefixNonEmpty("but the body looks like a rejection: ", s.Code)
	}
	return joinNonEmpty(answer, s.Fault.Description(), code, prefixNonEmpty("their id ", s.BuyerLead), prefixNonEmpty("then to ", s.Next))
}
