// Package exclusion names the rule by which a buyer did not get a lead, with the wanted and the
// actual value. The explanation of a past decision and the dry run of a test lead both use it, so
// equal decisions have equal rules.
//
// The package makes no decision. It gets the recorded outcome of a filter set and finds the
// condition of the configuration that gives this outcome. Values that the log does not record come
// from functions of the caller, together with their basis.
//
// Invariants:
//   - A rule contains no personal data. The actual value of a contact field is masked. Where the
//     wanted list would disclose it, only the length of the list is shown.
//   - A text is bounded: a long list is cut after maxListedValues values.
package exclusion

import (
	"fmt"
	"strings"
	"time"

	"pingpost/engine/market"
)

// Kind names the kind of a rule.
type Kind string

// The kinds of rules.
const (
	KindState        Kind = "state"
	KindFilter       Kind = "filter"
	KindSuppression  Kind = "suppression_list"
	KindDuplicate    Kind = "duplicate"
	KindSchedule     Kind = "schedule"
	KindCap          Kind = "cap"
	KindFunds        Kind = "funds"
	KindPause        Kind = "pause"
	KindUnconfirmed  Kind = "unconfirmed_deliveries"
	KindHealth       Kind = "ping_health"
	KindPingRate     Kind = "ping_rate"
	KindConnections  Kind = "connections"
	KindFloor        Kind = "floor"
	KindPayout       Kind = "payout"
	KindOutbid       Kind = "outbid"
	KindCurrency     Kind = "currency"
	KindBidExpiry    Kind = "bid_expiry"
	KindDeadline     Kind = "deadline"
	KindBid          Kind = "bid"
	KindPost         Kind = "post"
	KindTestEndpoint Kind = "test_endpoint"
	KindFilterSet    Kind = "filter_set"
	KindPingEndpoint Kind = "ping_endpoint"
	KindAdapter      Kind = "adapter"
)

// ActualValueBasis says how the actual value of a rule is known. The empty ActualValueBasis means that
// the decision itself has recorded it, or that it follows from recorded values alone.
type ActualValueBasis string

const (
	// Reconstructed is a value that was computed later, from other events or from present data.
	Reconstructed ActualValueBasis = "reconstructed"
	// Unknown means that the value cannot be found any more.
	Unknown ActualValueBasis = "unknown"
)

// UnmetRule is the rule by which a buyer, or the whole campaign, did not get a lead. Its JSON form is
// part of the admin API.
type UnmetRule struct {
	Kind     Kind             `json:"kind"`
	Field    string           `json:"field,omitempty"`    // of a filter: the name after mapping
	Operator string           `json:"operator,omitempty"` // of a filter
	Wanted   string           `json:"wanted"`
	Actual   *string          `json:"actual"` // nil: the lead has no value, or it is unknown
	Text     string           `json:"text"`   // the rule in one line
	Basis    ActualValueBasis `json:"basis,omitempty"`

	List string    `json:"list_id,omitempty"` // of a suppression list
	Lead string    `json:"lead_id,omitempty"` // of a duplicate: the earlier lead
	At   string    `json:"at,omitempty"`      // RFC 3339: the earlier lead's arrival, or the instant of the check
	Cap  *UnmetCap `json:"cap,omitempty"`
}

// UnmetCap describes the cap that a sale would exceed. Limit, Used and Needed are leads, or amounts in
// the campaign's currency.
type UnmetCap struct {
	Scope  string `json:"scope"` // campaign, terms, buyer or pair
	Unit   string `json:"unit"`  // count or money
	Period string `json:"period"`
	Zone   string `json:"time_zone"`
	From   string `json:"from,omitempty"`  // RFC 3339; absent for a total cap
	Until  string `json:"until,omitempty"` // exclusive
	Limit  string `json:"limit"`
	Used   string `json:"used"` // empty if unknown
	Needed string `json:"needed"`
}

// Masked replaces personal data in a rule.
const Masked = "(masked: personal data)"

// newRule returns a rule with the text "label: required wanted, got actual". A nil actual value is
// "none", or "an unknown value" for the basis Unknown.
func newRule(kind Kind, label, wanted string, actual *string, basis ActualValueBasis) *UnmetRule {
	got := "none"
	switch {
	case actual != nil:
		got = *actual
	case basis == Unknown:
		got = "an unknown value"
	}
	text := fmt.Sprintf("%s: required %s, got %s", label, wanted, got)
	if basis == Reconstructed {
		text += " (reconstructed)"
	}
	return &UnmetRule{Kind: kind, Wanted: wanted, Actual: actual, Text: text, Basis: basis}
}

// pointerTo returns the address of an actual value.
func pointerTo(value string) *string { return &value }

func formatTime(unixNanos int64) string {
	return time.Unix(0, unixNanos).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

func formatAmount(amount market.Money, currency market.Currency) string {
	sign := ""
	if amount < 0 {
		sign, amount = "-", -amount
	}
	return sign + amount.String() + " " + currency.String()
}

// maxListedValues limits the values of a list in a text.
const maxListedValues = 10

// joinFirstValues returns the values with commas between them, and cuts a long list.
func joinFirstValues(values []string) string {
	if more := len(values) - maxListedValues; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(values[:maxListedValues], ", "), more)
	}
	return strings.Join(values, ", ")
}
