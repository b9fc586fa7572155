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

// FormatExplanation formats a whole explanation: a lead and then the ping of its bid, or a ping and then the
// leads that claimed its offers.
func FormatExplanation(told *explain.Explanation) string {
	text := formatSection(told)
	if told.Auction != nil {
		text += "\nTHE PING BEFORE\n\n" + formatSection(told.Auction)
	}
	for _, lead := range told.Leads {
		head := "CLAIMED BY"
		if len(lead.Posts) == 0 && lead.Price == nil {
			head = "REJECTED"
		}
		text += "\n" + head + "\n\n" + formatSection(lead)
	}
	return text
}

// formatSection formats one lead or one ping: summary, explanation, offers, timeline and notes.
func formatSection(told *explain.Explanation) string {
	text := told.ID + "\n" + formatSummary(told) + "\n" + wrapParagraph(told.Why, terminal.Width)
	if len(told.Offers) > 0 {
		text += "\n" + formatOffers(told, terminal.Width)
	}
	text += "\n" + FormatTimeline(told, terminal.Width)
	notes := told.Notes
	if told.Truncated {
		notes = append(slices.Clip(notes), "The search ended before the end of the log: later attempts may be missing here.")
	}
	for _, note := range notes {
		text += "\n" + wrapParagraph(note, terminal.Width)
	}
	return text
}

// formatSummary formats the part above the timeline.
func formatSummary(told *explain.Explanation) string {
	t := terminal.Table{Indent: "  "}
	add := func(name, text string) {
		for i, line := range terminal.WrapText(text, terminal.Width-len("  supplier  ")) {
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
	add("kind", describeKind(told))
	add("supplier", told.Supplier)
	add("money", describeMoney(told))
	add("auction", told.AuctionID)
	add("theirs", told.SellerID)
	add("request", told.RequestID)
	add("same as", told.DuplicateOf)
	add("fields", formatFields(told))
	return t.String()
}

// describeKind returns the kind of request and its campaign.
func describeKind(told *explain.Explanation) string {
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

// describeMoney returns price, payout and margin, and the amounts that a return gave back.
func describeMoney(told *explain.Explanation) string {
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

// formatFields returns the lead's fields as name=value, sorted by name.
func formatFields(told *explain.Explanation) string {
	words := make([]string, 0, len(told.Fields))
	for _, name := range slices.Sorted(maps.Keys(told.Fields)) {
		words = append(words, name+"="+string(told.Fields[name]))
	}
	return strings.Join(words, " ")
}

// wrapParagraph returns the text in lines of at most width characters.
func wrapParagraph(text string, width int) string {
	return strings.Join(terminal.WrapText(text, width), "\n") + "\n"
}
