// Package reading extracts fields from buyers' answers that do not follow the contract:
// JSON, forms and XML, by the paths that an adapter protocol configures.
package reading

import (
	"errors"
	"slices"
	"strings"

	"pingpost/engine/market"
)

// The fields that an adapter protocol can extract from an answer. Price, Currency and Token belong
// to pings, LeadID to posts.
const (
	Accepted = iota
	Price
	Currency
	Token
	LeadID
	Reason
	fieldCount
)

// AnswerFields holds the texts that were extracted from a buyer's answer, without surrounding spaces.
// A field is "" if the answer does not have it, or if it is null or not a plain value.
type AnswerFields [fieldCount]string

// AnswerRules says how to read a buyer's answer: its format, the paths of the fields, and the words
// for yes and no. It is the validated form of market.BuyerAnswerValuePaths.
type AnswerRules struct {
	format  string
	Paths   [fieldCount]string
	yes, no []string // in lower case
}

// New validates the configured rules and returns them in the form for ExtractFields. ok is false
// if they are invalid.
func New(from *market.BuyerAnswerValuePaths) (r AnswerRules, ok bool) {
	r = AnswerRules{
		format: from.Format,
		Paths:  [fieldCount]string{from.Accepted, from.Price, from.Currency, from.Token, from.ID, from.Reason},
		yes:    strings.Split(strings.ToLower(strings.TrimSuffix(from.Yes, "\n")), "\n"),
	}
	if from.No != "" {
		r.no = strings.Split(strings.ToLower(strings.TrimSuffix(from.No, "\n")), "\n")
	}
	known := from.Format == market.FormatJSON || from.Format == market.FormatForm || from.Format == market.FormatXML
	return r, known && (from.Accepted == "" || from.Yes != "")
}

var errAmbiguous = errors.New("the buyer's answer contains a field twice")

// ExtractFields returns the fields of an answer. It returns an error if the answer is not in the
// configured format. A field that occurs twice is an error too, because its value is ambiguous.
func (r *AnswerRules) ExtractFields(body []byte) (f AnswerFields, err error) {
	switch r.format {
	case market.FormatJSON:
		err = f.extractJSON(body, &r.Paths)
	case market.FormatForm:
		err = f.extractForm(body, &r.Paths)
	default:
		err = f.extractXML(body, &r.Paths)
	}
	if err != nil {
		return AnswerFields{}, err
	}
	for i := range f {
		f[i] = strings.TrimSpace(f[i])
	}
	return f, nil
}

// AnswerDecision says whether a buyer's answer accepts the lead or ping.
type AnswerDecision uint8

const (
	Undecided AnswerDecision = iota // missing, or an unknown word
	Yes
	No
)

// Decide compares the field Accepted with the configured words for yes and no. Without
// configured words for no, every other word means no. A missing field is Undecided.
func (r *AnswerRules) Decide(fields *AnswerFields) AnswerDecision {
	word := strings.ToLower(fields[Accepted])
	switch {
	case word == "":
		return Undecided
	case slices.Contains(r.yes, word):
		return Yes
	case r.no == nil || slices.Contains(r.no, word):
		return No
	}
	return Undecided
}
