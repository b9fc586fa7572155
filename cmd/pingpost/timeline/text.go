// Package timeline formats an explanation of a lead or an auction as text: the summary, and
// one line per event with its time.
package timeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/exchange/explain"
)

// Text formats a whole explanation: a lead and then the ping of its bid, or a ping and then the
// leads that claimed its offers.
func Text(told *explain.Explanation) string {
	text := section(told)
	if told.Auction != nil {
		text += "\nTHE PING BEFORE\n\n" + section(told.Auction)
	}
	for _, lead := range told.Leads {
		head := "CLAIMED BY"
		if len(lead.Posts) == 0 && lead.Price == nil {
			head = "REJECTED"
		}
		text += "\n" + head + "\n\n" + section(lead)
	}
	return text
}

func section(told *explain.Explanation) string {
	text := told.ID + "\n" + summary(told) + "\n" + paragraph(told.Why, terminal.Width)
	if len(told.Offers) > 0 {
		text += "\n" + offers(told, terminal.Width)
	}
	text += "\n" + Lines(told, terminal.Width)
	notes := told.Notes
	if told.Truncated {
		notes = append(slices.Clip(notes), "The search ended before the end of the log: later attempts may be missing here.")
	}
	for _, note := range notes {
		text += "\n" + paragraph(note, terminal.Width)
	}
	return text
}

// summary formats the part above the timeline.
func summary(told *explain.Explanation) string {
	t := terminal.Table{Indent: "  "}
	add := func(name, text string) {
		for i, line := range terminal.Wrap(text, terminal.Width-len("  supplier  ")) {
			if i > 0 {
				name = ""
			}
			t.Row(name, line)
		}
	}
	status := told.Status
	if told.Delivery != "" && told.Delivery != "none" {
		status += ", " + told.Delivery
	}
	if told.Reason != "" {
		status += ", " + told.Reason
	}
	add("status", status)
	add("kind", kindOf(told))
	add("supplier", told.Supplier)
	add("money", moneyOf(told))
	add("auction", told.AuctionID)
	add("theirs", told.SellerID)
	add("request", told.RequestID)
	add("same as", told.DuplicateOf)
	add("fields", fieldsOf(told))
	return t.String()
}

func kindOf(told *explain.Explanation) string {
	if told.Campaign == "" {
		return told.Kind + ", for no campaign"
	}
	text := told.Kind + " for " + told.Campaign
	if told.Method != "" {
		text += ", " + told.Method
	}
	text += fmt.Sprintf(", configuration %d", told.Catalog)
	if told.Hops > 0 {
		text += fmt.Sprintf(", hops %d", told.Hops)
	}
	if told.Test {
		text += ", a test"
	}
	return text
}

func moneyOf(told *explain.Explanation) string {
	if told.Price == nil || told.Payout == nil || told.Margin == nil {
		return ""
	}
	text := fmt.Sprintf("price %s, payout %s, margin %s", told.Price, told.Payout, told.Margin)
	if told.Status == "OPEN" || told.Status == "TAKEN" || told.Delivery == "pending" || told.Delivery == "unknown" {
		text += "; reserved, not final"
	}
	for i := range told.Reports {
		if r := &told.Reports[i]; r.Credit != nil && r.Reversed != nil {
			text += fmt.Sprintf("; returned: %s credited and %s reversed", r.Credit, r.Reversed)
		}
	}
	return text
}

func fieldsOf(told *explain.Explanation) string {
	words := make([]string, 0, len(told.Fields))
	for _, name := range slices.Sorted(maps.Keys(told.Fields)) {
		words = append(words, name+"="+string(told.Fields[name]))
	}
	return strings.Join(words, " ")
}

// paragraph returns the text in lines of at most width characters.
func paragraph(text string, width int) string {
	return strings.Join(terminal.Wrap(text, width), "\n") + "\n"
}
