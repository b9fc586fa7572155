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

// FormatExplanation returns the whole explanation as text: a lead and then the ping of its
// bid, or a ping and then the leads that claimed its offers.
func FormatExplanation(explained *explain.Explanation) string {
	text := formatOneExplanation(explained)
	if explained.Auction != nil {
		text += "\nTHE PING BEFORE\n\n" + formatOneExplanation(explained.Auction)
	}
	for _, lead := range explained.Leads {
		head := "CLAIMED BY"
		if len(lead.Posts) == 0 && lead.Price == nil {
			head = "REJECTED"
		}
		text += "\n" + head + "\n\n" + formatOneExplanation(lead)
	}
	return text
}

// formatOneExplanation returns the text about one lead or one ping: summary, explanation, offers,
// timeline and notes.
func formatOneExplanation(explained *explain.Explanation) string {
	text := explained.ID + "\n" + formatSummaryTable(explained) + "\n" + wrapParagraph(explained.Why, terminal.Width)
	if len(explained.Offers) > 0 {
		text += "\n" + formatOffersAndClaims(explained, terminal.Width)
	}
	text += "\n" + FormatTimeline(explained, terminal.Width)
	notes := explained.Notes
	if explained.Truncated {
		notes = append(slices.Clip(notes), "The search ended before the end of the log: later attempts may be missing here.")
	}
	for _, note := range notes {
		text += "\n" + wrapParagraph(note, terminal.Width)
	}
	return text
}

// formatSummaryTable returns the table of key facts above the timeline.
func formatSummaryTable(explained *explain.Explanation) string {
	t := terminal.Table{Indent: "  "}
	add := func(name, text string) {
		for i, line := range terminal.WrapText(text, terminal.Width-len("  supplier  ")) {
			if i > 0 {
				name = ""
			}
			t.Row(name, line)
		}
	}
	delivery := explained.Delivery
	if delivery == "none" {
		delivery = ""
	}
	add("status", joinNonEmpty(explained.Status, delivery, explained.Reason))
	add("kind", describeKindAndCampaign(explained))
	add("supplier", explained.Supplier)
	add("money", describeSaleMoney(explained))
	add("terms", explained.Terms)
	add("auction", explained.AuctionID)
	add("theirs", explained.SellerID)
	add("request", explained.RequestID)
	add("same as", explained.DuplicateOf)
	add("fields", formatFields(explained))
	return t.String()
}

// describeKindAndCampaign returns the kind of the request, its campaign and the version of the
// configuration.
func describeKindAndCampaign(explained *explain.Explanation) string {
	if explained.Campaign == "" {
		return explained.Kind + ", for no campaign"
	}
	text := explained.Kind + " for " + explained.Campaign
	if explained.Method != "" {
		text += ", " + explained.Method
	}
	text += fmt.Sprintf(", configuration %d", explained.Catalog)
	if explained.Hops > 0 {
		text += fmt.Sprintf(", hops %d", explained.Hops)
	}
	if explained.Test {
		text += ", a test"
	}
	return text
}

// describeSaleMoney returns the sale's price, payout and margin, and the amounts that a return
// gave back. It returns "" without a sale.
func describeSaleMoney(explained *explain.Explanation) string {
	if explained.Price == nil || explained.Payout == nil || explained.Margin == nil {
		return ""
	}
	text := fmt.Sprintf("price %s, payout %s, margin %s", explained.Price, explained.Payout, explained.Margin)
	if explained.Status == "OPEN" || explained.Status == "TAKEN" || explained.Delivery == "pending" || explained.Delivery == "unknown" {
		text += "; reserved, not final"
	}
	for i := range explained.Reports {
		if r := &explained.Reports[i]; r.Credit != nil && r.Reversed != nil {
			text += fmt.Sprintf("; returned: %s credited and %s reversed", r.Credit, r.Reversed)
		}
	}
	return text
}

// formatFields returns the lead's fields as name=value, sorted by name.
func formatFields(explained *explain.Explanation) string {
	words := make([]string, 0, len(explained.Fields))
	for _, name := range slices.Sorted(maps.Keys(explained.Fields)) {
		words = append(words, name+"="+string(explained.Fields[name]))
	}
	return strings.Join(words, " ")
}

// wrapParagraph returns the text in lines of at most width characters.
func wrapParagraph(text string, width int) string {
	return strings.Join(terminal.WrapText(text, width), "\n") + "\n"
}
