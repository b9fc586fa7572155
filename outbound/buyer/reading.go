package buyer

import (
	"errors"
	"slices"
	"strings"

	"pingpost/engine/market"
)

// What is looked for in an answer. Of a ping the price, of a post the id.
const (
	findAccepted = iota
	findPrice
	findCurrency
	findToken
	findID
	findReason
	findings
)

// found are the texts that stood at the places, trimmed: of strings, numbers,
// true and false, elements, attributes and parameters. Empty is what was not
// there, was null, or held more than a text.
type found [findings]string

// reading is market.AnswerPaths taken apart: where to find what, and what it means.
type reading struct {
	format  string
	places  [findings]string
	yes, no []string // in small letters
}

func openReading(from *market.AnswerPaths) (r reading, ok bool) {
	r = reading{
		format: from.Format,
		places: [findings]string{from.Accepted, from.Price, from.Currency, from.Token, from.ID, from.Reason},
		yes:    strings.Split(strings.ToLower(strings.TrimSuffix(from.Yes, "\n")), "\n"),
	}
	if from.No != "" {
		r.no = strings.Split(strings.ToLower(strings.TrimSuffix(from.No, "\n")), "\n")
	}
	_, known := accepts[from.Format]
	return r, known && (from.Accepted == "" || from.Yes != "")
}

var errAmbiguous = errors.New("what is looked for stands there twice")

// read finds what stands in an answer. An error is one of form: the answer is
// not what the dialect says it is, or says a thing twice, so that nobody could
// tell which of the two is meant.
func (r *reading) read(body []byte) (f found, err error) {
	switch r.format {
	case market.FormatJSON:
		err = f.readJSON(body, &r.places)
	case market.FormatForm:
		err = f.readForm(body, &r.places)
	default:
		err = f.readXML(body, &r.places)
	}
	if err != nil {
		return found{}, err
	}
	for i := range f {
		f[i] = strings.TrimSpace(f[i])
	}
	return f, nil
}

// said is what an answer says to the question whether.
type said uint8

const (
	saidNothing said = iota // or nothing that the dialect knows
	saidYes
	saidNo
)

// accepted is what the answer says of whether the buyer wants the lead.
func (r *reading) accepted(f *found) said {
	word := strings.ToLower(f[findAccepted])
	switch {
	case word == "":
		return saidNothing
	case slices.Contains(r.yes, word):
		return saidYes
	case r.no == nil || slices.Contains(r.no, word):
		return saidNo
	}
	return saidNothing
}

// reason is the buyer's own word for a no, where it can be logged. Capitals do
// not count: DUPLICATE is a code as well.
func (f *found) reason() string { return codeIn(strings.ToLower(f[findReason])) }

// leadID is the buyer's id of the lead, where it is one.
func (f *found) leadID() string {
	if id := f[findID]; len(id) <= maxLeadID && isID(id) {
		return id
	}
	return ""
}
