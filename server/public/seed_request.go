package public

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/engine/market/format"
	"pingpost/internal/fakedata"
	"pingpost/internal/strictjson"
)

// Limits of the number of leads per request, and the default seed.
const (
	minSeeded   = 100
	maxSeeded   = 1000
	defaultSeed = 1
)

// maxLabel is the greatest length of a vertical in characters. A ping has the same limit.
const maxLabel = 255

// madeUpLeadsRequest has the parsed parameters of a request for made-up leads.
type madeUpLeadsRequest struct {
	fakedata.LeadSeriesOptions
	campaign string // the campaign that receives the leads; empty: no campaign
}

// madeUpLeadsRequestParser parses a request for made-up leads, and collects an error for each invalid field.
type madeUpLeadsRequestParser struct {
	body   *strictjson.Object
	faults []market.FieldError
}

func readMadeUpLeadsRequest(body *strictjson.Object) (order madeUpLeadsRequest, faults []market.FieldError) {
	r := madeUpLeadsRequestParser{body: body}
	order.Count = int(r.readInteger("count", "an integer from 100 to 1000", minSeeded, maxSeeded, nil))
	order.Vertical = r.readText("vertical", "a string of 1 to 255 printable characters, such as auto_insurance", true)
	order.State = r.readUSState()
	usual := int64(defaultSeed)
	order.Seed = r.readInteger("seed", "an integer of at most 64 bits", minSeed, maxSeed, &usual)
	order.campaign = r.readText("campaign_id", "the id of a campaign", false)
	return order, r.faults
}

const (
	maxSeed = 1<<63 - 1
	minSeed = -maxSeed - 1
)

func (r *madeUpLeadsRequestParser) addFieldError(field, code, expected string) {
	r.faults = append(r.faults, market.FieldError{Field: field, Code: code, Expected: expected})
}

// readMember returns the body's member with this name. ok is false if it is missing; if it is
// required, that is recorded as a field error. expected describes a valid value.
func (r *madeUpLeadsRequestParser) readMember(name, expected string, required bool) (m market.JSONMember, ok bool) {
	m, ok = r.body.Lookup(name)
	if ok && !m.CountsAsMissing() {
		return m, true
	}
	if required {
		r.addFieldError(name, errcode.FieldMissingRequired, expected)
	}
	return m, false
}

// readInteger returns an integer member, which must be between minimum and maximum. A missing member
// gives *defaultValue, or a field error if defaultValue is nil. An invalid value gives a field error
// and 0.
func (r *madeUpLeadsRequestParser) readInteger(name, expected string, minimum, maximum int64, defaultValue *int64) int64 {
	m, ok := r.readMember(name, expected, defaultValue == nil)
	if !ok {
		if defaultValue != nil {
			return *defaultValue
		}
		return 0
	}
	n, code := int64(0), errcode.FieldWrongType
	if m.Kind == market.JSONNumber {
		n, code = format.ParseInteger(m.Text)
	}
	if code == "" && (n < minimum || n > maximum) {
		code = errcode.FieldOutOfRange
	}
	if code != "" {
		r.addFieldError(name, code, expected)
		return 0
	}
	return n
}

// readText returns the text member `name` of a request for made-up leads: one line of at most maxLabel
// characters. For an invalid value, or a missing one that is required, it records a field error and
// returns an empty text. A missing optional member gives an empty text.
func (r *madeUpLeadsRequestParser) readText(name, expected string, required bool) string {
	m, ok := r.readMember(name, expected, required)
	switch {
	case !ok:
	case m.Kind != market.JSONString:
		r.addFieldError(name, errcode.FieldWrongType, expected)
	case utf8.RuneCount(m.Text) > maxLabel:
		r.addFieldError(name, errcode.FieldTooLong, expected)
	case bytes.ContainsFunc(m.Text, func(c rune) bool { return !unicode.IsPrint(c) }):
		r.addFieldError(name, errcode.FieldInvalidFormat, expected)
	default:
		return string(m.Text)
	}
	return ""
}

func (r *madeUpLeadsRequestParser) readUSState() market.USState {
	const expected = "a two-letter US state code in capitals, such as CA"
	m, ok := r.readMember("state", expected, true)
	if !ok {
		return market.NoState
	}
	state := market.ParseUSStateCode(m.Text)
	switch {
	case m.Kind != market.JSONString:
		r.addFieldError("state", errcode.FieldWrongType, expected)
	case state == market.NoState:
		r.addFieldError("state", errcode.FieldInvalidFormat, expected)
	default:
		return state
	}
	return market.NoState
}
