package refbuyer

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"pingpost/engine/market"
)

// request has the checked members of a ping. It aliases the body.
type request struct {
	auction []byte
	state   market.USState
	consent bool

	hasVertical, hasConsent bool
}

// read reads a ping's members and appends an error for each that is missing or wrong.
func (q *request) read(members []market.JSONMember, now time.Time, wrong []fieldError) []fieldError {
	*q = request{}
	for i := range members {
		m := &members[i]
		if path := findContact(m); path != "" {
			wrong = append(wrong, fieldError{path, codeContact, "no contact data in a ping"})
			continue
		}
		if m.Kind == market.JSONNull || m.Kind == market.JSONString && len(bytes.TrimSpace(m.Text)) == 0 {
			continue // counts as missing
		}
		if code, expected := q.member(m, now); code != "" {
			wrong = append(wrong, fieldError{string(m.Name), code, expected})
		}
	}
	for _, field := range [...]struct {
		name, expected string
		there          bool
	}{
		{"auction_id", "a text", q.auction != nil},
		{"vertical", "a text", q.hasVertical},
		{"state", "two capital letters of the US postal service", q.state != market.NoState},
		{"tcpa_consent", "true or false", q.hasConsent},
	} {
		if !field.there && !hasErrorFor(wrong, field.name) {
			wrong = append(wrong, fieldError{field.name, "missing_required", field.expected})
		}
	}
	return wrong
}

const codeContact = "contact_field_not_allowed"

// codeExpired is the code of an expires_at in the past.
const codeExpired = "expired"

func hasErrorFor(wrong []fieldError, field string) bool {
	for i := range wrong {
		if wrong[i].Field == field {
			return true
		}
	}
	return false
}

// member checks one member. A member without a rule is a custom field of the campaign and
// may have any value.
func (q *request) member(m *market.JSONMember, now time.Time) (code, expected string) {
	switch string(m.Name) {
	case "auction_id":
		q.auction = m.Text
		return textOf(m, maxID)
	case "vertical":
		q.hasVertical = true
		return textOf(m, maxField)
	case "sub_vertical", "source":
		return textOf(m, maxField)
	case "driver_age_band":
		return kindOf(m, market.JSONString, "a text")
	case "state":
		return q.setState(m)
	case "tcpa_consent":
		q.hasConsent, q.consent = true, string(m.Text) == "true"
		return kindOf(m, market.JSONBoolean, "true or false")
	case "currently_insured":
		return kindOf(m, market.JSONBoolean, "true or false")
	case "ai_quality_score":
		return kindOf(m, market.JSONNumber, "a number")
	case "vehicle_count":
		n, err := strconv.ParseFloat(string(m.Text), 64)
		if err != nil || n != math.Trunc(n) || m.Kind != market.JSONNumber {
			return "wrong_type", "an integer"
		}
	case "zip3":
		if m.Kind != market.JSONString {
			return "wrong_type", "three digits in a text"
		}
		if len(m.Text) != 3 || len(bytes.Trim(m.Text, "0123456789")) > 0 {
			return "invalid_format", "three digits"
		}
	case "consent_cert_url":
		if scheme := m.Text[:min(len("https://"), len(m.Text))]; m.Kind == market.JSONString && !bytes.EqualFold(scheme, []byte("https://")) {
			return "invalid_format", "an https address"
		}
		return textOf(m, maxAddress)
	case "expires_at":
		return expiryOf(m, now)
	}
	return "", ""
}

func (q *request) setState(m *market.JSONMember) (code, expected string) {
	const want = "two capital letters of the US postal service"
	if m.Kind != market.JSONString {
		return "wrong_type", want
	}
	if q.state = market.ParseUSStateCode(m.Text); q.state == market.NoState {
		return "invalid_format", want
	}
	return "", ""
}

func expiryOf(m *market.JSONMember, now time.Time) (code, expected string) {
	const want = "a time to come, as RFC 3339"
	if m.Kind != market.JSONString {
		return "wrong_type", want
	}
	var at time.Time
	if err := at.UnmarshalText(m.Text); err != nil {
		return "invalid_format", want
	}
	if !at.After(now) {
		return codeExpired, want
	}
	return "", ""
}

func kindOf(m *market.JSONMember, kind market.JSONKind, want string) (code, expected string) {
	if m.Kind != kind {
		return "wrong_type", want
	}
	return "", ""
}

func textOf(m *market.JSONMember, limit int) (code, expected string) {
	switch {
	case m.Kind != market.JSONString:
		return "wrong_type", "a text"
	case len(m.Text) > limit:
		return "too_long", "a shorter text"
	}
	return "", ""
}
