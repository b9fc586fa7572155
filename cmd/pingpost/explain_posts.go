package main

import (
	"fmt"
	"slices"
	"strings"

	"pingpost/cmd/pingpost/exchange"
)

// decisionOf is what was decided at first, once it was durable.
func decisionOf(told *exchange.Explanation) string {
	switch {
	case told.LeadID == "" && len(told.Offers) > 0:
		return "the best bid is that of " + told.Offers[0].Buyer
	case told.LeadID == "":
		return "no bid: " + told.Reason
	case len(told.Posts) > 0:
		return "to be posted"
	case told.Price != nil:
		return "sold to " + told.Buyer
	}
	return "not sold: " + told.Reason
}

// posted is the way of a lead to one buyer.
func posted(post *exchange.Post) []moment {
	moments := append(make([]moment, 0, 1+len(post.Tries)+len(post.Settlements)), moment{
		at: post.Intended, who: post.Buyer, what: "post",
		detail: fmt.Sprintf("for %s, payout %s", post.Price, post.Payout),
	})
	for i := range post.Tries {
		try := &post.Tries[i]
		moments = append(moments, moment{at: try.Ended, who: post.Buyer, what: fmt.Sprintf("try %d failed", try.Attempt), detail: failureOf(try.Status, try.Fault)})
	}
	for i := range post.Settlements {
		s, what := &post.Settlements[i], post.Settlements[i].Came
		if what == "refused" && s.Status == 0 {
			what = "not reached" // the log calls both the same: the buyer has not got it
		}
		moments = append(moments, moment{at: s.At, who: post.Buyer, what: what, detail: settlementOf(s)})
	}
	return moments
}

// recorded is the sale to a buyer without an endpoint, where it came about because
// those before it refused the lead; not ok: there is none.
func recorded(told *exchange.Explanation) (m moment, ok bool) {
	if told.LeadID == "" || told.Price == nil || told.Payout == nil || len(told.Posts) == 0 {
		return m, false
	}
	last := &told.Posts[len(told.Posts)-1]
	if len(last.Settlements) == 0 || slices.ContainsFunc(told.Posts, func(p exchange.Post) bool { return p.Buyer == told.Buyer }) {
		return m, false
	}
	return moment{
		at: last.Settlements[len(last.Settlements)-1].At, who: told.Buyer, what: "sale recorded",
		detail: fmt.Sprintf("for %s, payout %s", told.Price, told.Payout),
	}, true
}

// failureOf is why a try came to nothing.
func failureOf(status uint32, fault exchange.Fault) string {
	switch {
	case status != 0 && fault != "":
		return fmt.Sprintf("HTTP %d, %s", status, fault.Words())
	case status != 0:
		return fmt.Sprintf("HTTP %d", status)
	case fault != "":
		return fault.Words()
	}
	return "no answer to go by"
}

// settlementOf tells of what settles a post; of what leaves it open, only that: the
// try on which it rests has its own line, or is under way.
func settlementOf(s *exchange.Settlement) string {
	if s.Came == "pending" {
		if s.Status == 0 && s.Fault == "" {
			return "taken up after a restart; the tries go on"
		}
		return "the answer was due; the tries go on"
	}
	var words []string
	if s.Status != 0 {
		words = append(words, fmt.Sprintf("HTTP %d after %s ms", s.Status, milliseconds(int64(s.Elapsed))))
	}
	if s.Fault != "" {
		words = append(words, s.Fault.Words())
	}
	for _, word := range []struct{ says, text string }{
		{"", s.Code}, {"their id ", s.BuyerLead}, {"then to ", s.Next},
	} {
		if word.text != "" {
			words = append(words, word.says+word.text)
		}
	}
	return strings.Join(words, ", ")
}
