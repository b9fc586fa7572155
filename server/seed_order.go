package server

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/server/seed"
	"pingpost/server/strictjson"
)

// How many leads one request may ask for, and the seed where it names none.
const (
	fewestSeeded = 100
	mostSeeded   = 1000
	usualSeed    = 1
)

// maxLabel is how many characters a vertical may have, in a ping as here.
const maxLabel = 255

// seedOrder is what a request for leads asks for.
type seedOrder struct {
	seed.Request
	campaign string // through which the leads go; empty: through none
}

// seedReader reads an order and keeps all that is wrong with it.
type seedReader struct {
	body   *strictjson.Object
	faults []market.FieldError
}

func readSeedOrder(body *strictjson.Object) (order seedOrder, faults []market.FieldError) {
	r := seedReader{body: body}
	order.Count = int(r.integer("count", "an integer from 100 to 1000", fewestSeeded, mostSeeded, nil))
	order.Vertical = r.text("vertical", "a string of 1 to 255 printable characters, such as auto_insurance", true)
	order.State = r.state()
	usual := int64(usualSeed)
	order.Seed = r.integer("seed", "an integer of at most 64 bits", minSeed, maxSeed, &usual)
	order.campaign = r.text("campaign_id", "the id of a campaign", false)
	return order, r.faults
}

const (
	maxSeed = 1<<63 - 1
	minSeed = -maxSeed - 1
)

func (r *seedReader) fault(field, code, expected string) {
	r.faults = append(r.faults, market.FieldError{Field: field, Code: code, Expected: expected})
}

// member finds what says something; where it must and does not, that is told.
func (r *seedReader) member(name, expected string, required bool) (m market.Member, ok bool) {
	m, ok = r.body.Lookup(name)
	if ok && !m.Missing() {
		return m, true
	}
	if required {
		r.fault(name, errcode.FieldMissingRequired, expected)
	}
	return m, false
}

// integer reads a number between two, both included. Without a usual one it is
// required.
func (r *seedReader) integer(name, expected string, least, most int64, usual *int64) int64 {
	m, ok := r.member(name, expected, usual == nil)
	if !ok {
		if usual != nil {
			return *usual
		}
		return 0
	}
	n, code := int64(0), errcode.FieldWrongType
	if m.Kind == market.JSONNumber {
		n, code = market.ReadInteger(m.Text)
	}
	if code == "" && (n < least || n > most) {
		code = errcode.FieldOutOfRange
	}
	if code != "" {
		r.fault(name, code, expected)
		return 0
	}
	return n
}

// text reads a name of one line.
func (r *seedReader) text(name, expected string, required bool) string {
	m, ok := r.member(name, expected, required)
	switch {
	case !ok:
	case m.Kind != market.JSONString:
		r.fault(name, errcode.FieldWrongType, expected)
	case utf8.RuneCount(m.Text) > maxLabel:
		r.fault(name, errcode.FieldTooLong, expected)
	case bytes.ContainsFunc(m.Text, func(c rune) bool { return !unicode.IsPrint(c) }):
		r.fault(name, errcode.FieldInvalidFormat, expected)
	default:
		return string(m.Text)
	}
	return ""
}

func (r *seedReader) state() market.State {
	const expected = "a two-letter US state code in capitals, such as CA"
	m, ok := r.member("state", expected, true)
	if !ok {
		return market.NoState
	}
	state := market.StateOf(m.Text)
	switch {
	case m.Kind != market.JSONString:
		r.fault("state", errcode.FieldWrongType, expected)
	case state == market.NoState:
		r.fault("state", errcode.FieldInvalidFormat, expected)
	default:
		return state
	}
	return market.NoState
}
