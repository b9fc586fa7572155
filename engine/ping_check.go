package engine

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/engine/market/format"
)

// The members of a ping that are no field of a lead.
const (
	memberAuction     = "auction_id"
	memberVertical    = "vertical"
	memberSubVertical = "sub_vertical"
	memberExpires     = "expires_at"
)

// maxFrameText is how many characters a ping's own names may have.
const maxFrameText = 255

// unmapped reads a ping for which there is no campaign: what everybody knows is
// checked, and a person is kept out, all the same.
var unmapped = func() *market.Mapping {
	mapping, mistakes := market.NewMapping(market.MappingSpec{Unknown: market.UnknownKeep})
	if len(mistakes) > 0 {
		panic("BUG: the mapping without fields is wrong")
	}
	return mapping
}()

// signals are the fields of a seller's ping that have a type although no
// campaign may name them.
var signals = [...]struct {
	name     string
	kind     market.JSONKind
	expected string
}{
	{"currently_insured", market.JSONBoolean, "true or false"},
	{"vehicle_count", market.JSONNumber, "an integer"},
	{"driver_age_band", market.JSONString, "a string, such as 25-34"},
}

// checkSellers reads a seller's ping and finds its campaign, or says all that is
// wrong.
func (p *ping) checkSellers() error {
	switch {
	case p.req.BadKey:
		p.fault("Idempotency-Key", errcode.FieldInvalidFormat, "1 to 255 visible ASCII characters")
	case len(p.req.Key) == 0:
		p.fault("Idempotency-Key", errcode.FieldMissingRequired, "1 to 255 visible ASCII characters")
	}
	p.checkHead()
	p.theirs = p.frame(memberAuction, true)
	vertical := p.frame(memberVertical, true)
	subVertical := p.frame(memberSubVertical, false)
	p.readExpiry()
	p.open = p.engine.auctioning(p.plan, p.req.Supplier.ID, vertical, subVertical, p.test)
	mapping := p.mapping()
	p.lead.Reset(mapping.Slots())
	p.faults = mapping.FillPing(&p.lead, p.req.Members, market.UnknownKeep, p.faults)
	p.faults = mapping.Require(&p.lead, p.faults, market.SlotState, market.SlotTCPAConsent)
	p.checkSignals(mapping)
	return p.verdict()
}

// checkHead reports faults beside the body.
func (p *ping) checkHead() {
	if p.req.BadTest {
		p.fault(headerTest, errcode.FieldInvalidFormat, expectedTest)
	}
	p.faults = append(p.faults, p.req.Faults...)
}

// mapping is the campaign's, or the one without fields of its own.
func (p *ping) mapping() *market.Mapping {
	if p.open == nil {
		return unmapped
	}
	return p.open.Campaign.Mapping
}

// verdict is a refusal where anything was found to be wrong.
func (p *ping) verdict() error {
	if len(p.faults) == 0 {
		return nil
	}
	return &Refusal{Code: InvalidPayload, Fields: append([]market.FieldError(nil), p.faults...)}
}

func (p *ping) fault(field, code, expected string) {
	p.faults = append(p.faults, market.FieldError{Field: field, Code: code, Expected: expected})
}

// member finds a member that says something.
func (p *ping) member(name string) *market.Member {
	for i := range p.req.Members {
		if m := &p.req.Members[i]; string(m.Name) == name && !m.IsMissing() {
			return m
		}
	}
	return nil
}

// frame reads a member that is a name: printable, and not blank.
func (p *ping) frame(name string, required bool) []byte {
	const expected = "a string of 1 to 255 printable characters"
	m := p.member(name)
	switch {
	case m != nil && m.Kind != market.JSONString:
		p.fault(name, errcode.FieldWrongType, expected)
	case m == nil:
		if required {
			p.fault(name, errcode.FieldMissingRequired, expected)
		}
	case utf8.RuneCount(m.Text) > maxFrameText:
		p.fault(name, errcode.FieldTooLong, expected)
	case bytes.ContainsFunc(m.Text, func(r rune) bool { return !unicode.IsPrint(r) }):
		p.fault(name, errcode.FieldInvalidFormat, expected)
	default:
		return m.Text
	}
	return nil
}

// readExpiry reads until when the seller listens; no longer than a bid's window.
func (p *ping) readExpiry() {
	const expected = "a time to come, as RFC 3339 has it, such as 2026-01-31T09:30:00Z"
	m := p.member(memberExpires)
	if m == nil {
		return
	}
	if m.Kind != market.JSONString {
		p.fault(memberExpires, errcode.FieldWrongType, expected)
		return
	}
	at, ok := format.ParseTimestamp(m.Text)
	switch {
	case !ok:
		p.fault(memberExpires, errcode.FieldInvalidFormat, expected)
	case at <= p.now:
		p.fault(memberExpires, errcode.FieldExpired, expected)
	default:
		p.expires = min(p.expires, at)
	}
}

// checkSignals holds the signals that the campaign does not map to their types.
func (p *ping) checkSignals(mapping *market.Mapping) {
	for i := range signals {
		signal := &signals[i]
		m := p.member(signal.name)
		if m == nil || hasOwn(mapping, signal.name) {
			continue
		}
		code := errcode.FieldWrongType
		if m.Kind == signal.kind {
			code = ""
			if m.Kind == market.JSONNumber {
				_, code = format.ReadInteger(m.Text)
			}
		}
		if code != "" {
			p.fault(signal.name, code, signal.expected)
		}
	}
}

// hasOwn tells whether the campaign has a field of its own that arrives so.
func hasOwn(mapping *market.Mapping, name string) bool {
	for slot := market.FirstCustom; int(slot) < mapping.Slots(); slot++ {
		if mapping.ArrivalName(slot) == name {
			return true
		}
	}
	return false
}
