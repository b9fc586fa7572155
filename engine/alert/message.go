package alert

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"pingpost/engine/event"
)

// Message is a change of an alert in words: what happened, where, and what to do.
type Message struct {
	Title  string `json:"title"`
	Text   string `json:"text"`
	Action string `json:"action"`
	Link   string `json:"link"` // path of the console's page
}

// messageTexts are the texts of a kind. In title and text, {subject}, {value}, {threshold} and {note} stand
// for the alert's values.
type messageTexts struct {
	title, text, action, resolved string
	page                          string // path of the console's page, to which the subject's id is added
}

var wordsOf = map[KindName]messageTexts{
	CapUsed: {
		"Buyer {subject}: {value} of a cap used", "Buyer {subject} has used {value} of a cap ({note}). The alert is set at {threshold}.",
		"Ask the buyer whether to raise the cap. When the cap is full, the buyer gets no more leads until its period ends.",
		"Buyer {subject}: cap use is down to {value}", "#/buyers/",
	},
	BuyerBalance: {
		"Buyer {subject}: balance is {value}", "Buyer {subject} has {value} left to spend{note}. The alert is set at {threshold}.",
		"Ask the buyer for a payment, and add the funds. Without funds the buyer gets no leads.",
		"Buyer {subject}: balance is back at {value}", "#/buyers/",
	},
	BuyerDaysLeft: {
		"Buyer {subject}: balance lasts {value}", "At the spend of the last 24 hours, buyer {subject} runs out of funds in {value} ({note}). The alert is set at {threshold}.",
		"Ask the buyer for a payment, and add the funds. Without funds the buyer gets no leads.",
		"Buyer {subject}: balance lasts {value} again", "#/buyers/",
	},
	BuyerFailures: {
		"Buyer {subject}: {value} of requests fail", "{value} of the pings and posts to buyer {subject} timed out or failed ({note}). The alert is set at {threshold}.",
		"Ask the buyer to check its endpoint. Pause the buyer if the failures cost you sales.",
		"Buyer {subject}: failures are down to {value}", "#/buyers/",
	},
	AcceptRate: {
		"Buyer {subject}: accept rate is {value}", "Buyer {subject} accepts {value} of the leads posted to it ({note}). The alert is set at {threshold}.",
		"Compare the buyer's filters with its refusal reasons, and ask the buyer what changed.",
		"Buyer {subject}: accept rate is back at {value}", "#/buyers/",
	},
	SoldRate: {
		"Sold rate is {value}", "The exchange sells {value} of its leads ({note}). The alert is set at {threshold}.",
		"Look at the unsold reasons: full caps, empty balances and failing buyers are the usual causes.",
		"Sold rate is back at {value}", "#/unmatched",
	},
	CampaignSoldRate: {
		"Campaign {subject}: sold rate is {value}", "Campaign {subject} sells {value} of its leads ({note}). The alert is set at {threshold}.",
		"Look at the campaign's unsold reasons: full caps, empty balances and failing buyers are the usual causes.",
		"Campaign {subject}: sold rate is back at {value}", "#/campaigns/",
	},
	WebhookFailing: {
		"Supplier {subject}: webhooks have failed for {value}", "All webhooks to supplier {subject} have failed for {value}{note}. The alert is set at {threshold}.",
		"Ask the supplier to repair its endpoint. After five days the exchange switches the webhooks off.",
		"Supplier {subject}: webhooks arrive again", "#/suppliers/",
	},
	WebhookDeadLetters: {
		"Supplier {subject}: {value} failed events", "The exchange gave up {value} webhooks to supplier {subject}. The alert is set at {threshold}.",
		"When the supplier's endpoint works again, resend the failed events.",
		"Supplier {subject}: failed events are down to {value}", "#/suppliers/",
	},
	BackupAge: {
		"Backup is {value} behind", "The last {value} of data are not in the backup{note}. The alert is set at {threshold}.",
		"Check the backup's destination: its credentials, its free space and the network.",
		"Backup is up to date", "#/system",
	},
	DiskFree: {
		"{value} of disk space free", "The data directory's disk has {value} free. The alert is set at {threshold}.",
		"Free some space or enlarge the disk. The exchange refuses leads when too little is left.",
		"Disk has {value} free again", "#/system",
	},
}

// TotalCapNote is the part of a cap's note that says that the cap has no period. Its use never falls by
// itself.
const TotalCapNote = "cap by total"

// The notes of alerts that end although their value did not become good.
const (
	noteRuleOff     = "the rule was removed or turned off"
	noteSubjectGone = "it is no longer configured or measured"
)

// titlesWithoutRecovery are the beginnings of the titles of these alerts, by note.
var titlesWithoutRecovery = map[string]string{
	noteRuleOff: "Rule removed or turned off: ", noteSubjectGone: "No longer configured or measured: ",
}

// KindOfChange returns the kind of a change's rule, or nil if it is unknown. rule is the present rule, or
// nil if it was removed; recorded is the rule's kind at the time of the change, or empty.
func KindOfChange(rule *Rule, recorded KindName) *Kind {
	if recorded == "" && rule != nil {
		recorded = rule.Kind
	}
	return FindKind(recorded)
}

// DescribeChange puts a change in words. rule is the alert's present rule, or nil if it was removed. recorded
// is the rule's kind at the time of the change; it gives the change of a removed rule its words and unit.
func DescribeChange(rule *Rule, recorded KindName, transition event.AlertOrNotificationTransition, subject string, value, threshold Quantity, note string) Message {
	kind := KindOfChange(rule, recorded)
	if kind == nil {
		return describeChangeOfRemovedOrUnknownRule(rule, transition, subject, value, threshold, note)
	}
	w := wordsOf[kind.Name]
	fill := strings.NewReplacer(
		"{subject}", cmp.Or(subject, "the exchange"), "{value}", FormatQuantity(value, kind.Unit), "{threshold}", FormatQuantity(threshold, kind.Unit), "{note}", note,
	)
	if kind.Name == CapUsed && strings.Contains(note, TotalCapNote) {
		w.action = "Ask the buyer whether to raise the cap. When the cap is full, the buyer gets no more leads: a cap by total never resets."
	}
	m := Message{Title: fill.Replace(w.title), Text: fill.Replace(w.text), Action: w.action, Link: w.page}
	if strings.HasSuffix(m.Link, "/") {
		m.Link += escapePathPart(subject)
	}
	if prefix := titlesWithoutRecovery[note]; prefix != "" && transition == event.AlertResolved {
		m.Title = fill.Replace(prefix + w.title)
		m.Text = fill.Replace("The alert ended because {note}. It fired at the value {value}, and may not have recovered.")
		m.Action = "Nothing if this is intended. Otherwise look at the page of the subject."
		return m
	}
	if transition == event.AlertResolved {
		m.Title = fill.Replace("Resolved: " + w.resolved)
		m.Text = m.Title + "."
		if note != "" {
			m.Text += " " + strings.TrimSpace(note) + "."
		}
		m.Action = "Nothing. The alert has ended."
	}
	if rule == nil && transition != event.AlertResolved {
		m.Text += " Its rule was removed since."
		m.Action = actionWithoutRule
	}
	return m
}

// actionWithoutRule is the action for an alert whose rule was removed.
const actionWithoutRule = "Nothing. An alert without its rule ends at the next evaluation. Add a rule if the alert still matters."

// describeChangeOfRemovedOrUnknownRule puts a change in words if the kind of its rule is unknown, so
// that its value has no unit.
func describeChangeOfRemovedOrUnknownRule(rule *Rule, transition event.AlertOrNotificationTransition, subject string, value, threshold Quantity, note string) Message {
	subject = cmp.Or(subject, "the exchange")
	resolvedTitle := cmp.Or(titlesWithoutRecovery[note], "Resolved: ") + "alert about " + subject
	if note != "" {
		note = " (" + strings.TrimLeft(note, ";, ") + ")"
	}
	reason, action := "Its rule was removed since.", actionWithoutRule
	if rule != nil {
		action = "Upgrade the exchange to the version that added the rule, or remove the rule."
		reason = fmt.Sprintf("This version does not know the kind %q of its rule.", rule.Kind)
	}
	if transition == event.AlertResolved {
		return Message{
			Title: resolvedTitle, Text: fmt.Sprintf("The alert about %s ended at the value %s%s. %s", subject, value, note, reason),
			Action: "Nothing. The alert has ended.", Link: "#/alerts",
		}
	}
	return Message{
		Title: "Alert fired: " + subject, Text: fmt.Sprintf("An alert about %s fired at the value %s; its threshold was %s%s. %s", subject, value, threshold, note, reason),
		Action: action, Link: "#/alerts",
	}
}

// escapePathPart percent-encodes an id for a path of the console.
func escapePathPart(id string) string {
	var escaped strings.Builder
	for _, c := range []byte(id) {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("-_.~", c) >= 0 {
			escaped.WriteByte(c)
			continue
		}
		fmt.Fprintf(&escaped, "%%%02X", c)
	}
	return escaped.String()
}

// unitWords has the text after a value of each unit, and the decimals that readers need.
var unitWords = map[Unit]struct {
	after    string
	decimals int
}{
	UnitPercent: {"%", 1}, UnitMoney: {"", 2}, UnitDays: {" days", 1}, UnitMinutes: {" minutes", 0}, UnitCount: {"", 0}, UnitGB: {" GB", 1},
}

// FormatQuantity returns a value with its unit, rounded for readers: 82.3%, 1,000,000 GB. Money has
// always two decimals, and no currency, because an alert has none.
func FormatQuantity(q Quantity, unit Unit) string {
	word := unitWords[unit]
	step := One
	for range word.decimals {
		step /= 10
	}
	half := step / 2
	if q < 0 {
		half = -half
	}
	rounded := (q + half) / step * step
	sign := ""
	if rounded < 0 {
		sign, rounded = "-", -rounded
	}
	whole, decimals, _ := strings.Cut(rounded.String(), ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if unit == UnitMoney {
		decimals = (decimals + "00")[:2]
	}
	if decimals != "" {
		whole += "." + decimals
	}
	return sign + whole + word.after
}

// FormatWindow returns the length of a rule's window for a note, such as 15m or 1h0m.
func FormatWindow(seconds int64) string {
	return strings.TrimSuffix((time.Duration(seconds) * time.Second).String(), "0s")
}
