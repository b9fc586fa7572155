package engine

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"pingpost/api/errcode"
	"pingpost/engine/event"
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

// maxNameText limits the names in a ping, in characters.
const maxNameText = 255

// unmapped maps a ping without a campaign: it checks the standard fields and refuses
// contact data.
var unmapped = func() *market.Mapping {
	mapping, mistakes := market.NewMapping(market.MappingSpec{Unknown: market.UnknownKeep})
	if len(mistakes) > 0 {
		panic("BUG: the mapping without custom fields is invalid")
	}
	return mapping
}()

// signals are the fields of a seller's ping that have a type even if the campaign does not
// map them.
var signals = [...]struct {
	name     string
	kind     market.JSONKind
	expected string
}{
	{"currently_insured", market.JSONBoolean, "true or false"},
	{"vehicle_count", market.JSONNumber, "an integer"},
	{"driver_age_band", market.JSONString, "a string, such as 25-34"},
}

// validateSellerPing reads a seller's ping and finds its campaign. It returns a *Refusal with
// all faults at once.
func (p *ping) validateSellerPing() error {
	switch {
	case p.req.BadKey:
		p.addFault("Idempotency-Key", errcode.FieldInvalidFormat, "1 to 255 visible ASCII characters")
	case len(p.req.Key) == 0:
		p.addFault("Idempotency-Key", errcode.FieldMissingRequired, "1 to 255 visible ASCII characters")
	}
	p.addHeaderFaults()
	p.sellerAuction = p.nameMember(memberAuction, true)
	vertical := p.nameMember(memberVertical, true)
	subVertical := p.nameMember(memberSubVertical, false)
	p.parseExpiresAt()
	p.live = p.engine.findAuctionCampaign(p.plan, p.req.Supplier.ID, vertical, subVertical, p.test)
	mapping := p.campaignMapping()
	p.lead.Reset(mapping.SlotCount())
	p.faults = mapping.FillFromPing(&p.lead, p.req.Members, market.UnknownKeep, p.faults)
	p.faults = mapping.RequireFields(&p.lead, p.faults, market.SlotState, market.SlotTCPAConsent)
	p.checkUnmappedSignals(mapping)
	return p.refusalOfFaults()
}

// addHeaderFaults adds the faults outside the body.
func (p *ping) addHeaderFaults() {
	if p.req.BadTest {
		p.addFault(headerTest, errcode.FieldInvalidFormat, expectedTest)
	}
	p.faults = append(p.faults, p.req.Faults...)
}

// campaignMapping returns the campaign's mapping, or unmapped.
func (p *ping) campaignMapping() *market.Mapping {
	if p.live == nil {
		return unmapped
	}
	return p.live.Campaign.Mapping
}

// refusalOfFaults returns a *Refusal with the faults, or nil if there are none.
func (p *ping) refusalOfFaults() error {
	if len(p.faults) == 0 {
		return nil
	}
	return &Refusal{Code: InvalidPayload, Fields: append([]market.FieldError(nil), p.faults...)}
}

func (p *ping) addFault(field, code, expected string) {
	p.faults = append(p.faults, market.FieldError{Field: field, Code: code, Expected: expected})
}

// findMember returns a member of the body, or nil if it is missing, null or empty.
func (p *ping) findMember(name string) *market.Member {
	for i := range p.req.Members {
		if m := &p.req.Members[i]; string(m.Name) == name && !m.IsMissing() {
			return m
		}
	}
	return nil
}

// nameMember returns the text of a member that is a name: a printable string, not blank.
func (p *ping) nameMember(name string, required bool) []byte {
	const expected = "a string of 1 to 255 printable characters"
	m := p.findMember(name)
	switch {
	case m != nil && m.Kind != market.JSONString:
		p.addFault(name, errcode.FieldWrongType, expected)
	case m == nil:
		if required {
			p.addFault(name, errcode.FieldMissingRequired, expected)
		}
	case utf8.RuneCount(m.Text) > maxNameText:
		p.addFault(name, errcode.FieldTooLong, expected)
	case bytes.ContainsFunc(m.Text, func(r rune) bool { return !unicode.IsPrint(r) }):
		p.addFault(name, errcode.FieldInvalidFormat, expected)
	default:
		return m.Text
	}
	return nil
}

// parseExpiresAt reads expires_at: when the seller stops to wait. The bid window limits it.
func (p *ping) parseExpiresAt() {
	const expected = "a future time in RFC 3339 form, such as 2026-01-31T09:30:00Z"
	m := p.findMember(memberExpires)
	if m == nil {
		return
	}
	if m.Kind != market.JSONString {
		p.addFault(memberExpires, errcode.FieldWrongType, expected)
		return
	}
	at, ok := format.ParseTimestamp(m.Text)
	switch {
	case !ok:
		p.addFault(memberExpires, errcode.FieldInvalidFormat, expected)
	case at <= p.now:
		p.addFault(memberExpires, errcode.FieldExpired, expected)
	default:
		p.expires = min(p.expires, at)
	}
}

// checkUnmappedSignals checks the types of the signals that the campaign does not map.
func (p *ping) checkUnmappedSignals(mapping *market.Mapping) {
	for i := range signals {
		signal := &signals[i]
		m := p.findMember(signal.name)
		if m == nil || hasCustomField(mapping, signal.name) {
			continue
		}
		code := errcode.FieldWrongType
		if m.Kind == signal.kind {
			code = ""
			if m.Kind == market.JSONNumber {
				_, code = format.ParseInteger(m.Text)
			}
		}
		if code != "" {
			p.addFault(signal.name, code, signal.expected)
		}
	}
}

// hasCustomField reports whether the campaign has a custom field with this name in requests.
func hasCustomField(mapping *market.Mapping, name string) bool {
	for slot := market.FirstCustomSlot; int(slot) < mapping.SlotCount(); slot++ {
		if mapping.ArrivalName(slot) == name {
			return true
		}
	}
	return false
}

// validateAvailabilityPing reads an availability ping and finds its campaign. It returns a
// *Refusal with all faults at once.
func (p *ping) validateAvailabilityPing() error {
	if p.req.BadKey {
		p.addFault("Idempotency-Key", errcode.FieldInvalidFormat, "1 to 255 visible ASCII characters")
	}
	p.addHeaderFaults()
	campaign := p.idMember(memberCampaign)
	supplier := p.idMember(memberSupplier)
	p.setCampaign(campaign)
	mapping := p.campaignMapping()
	p.lead.Reset(mapping.SlotCount())
	p.faults = mapping.FillFromPing(&p.lead, p.req.Members, 0, p.faults)
	if err := p.refusalOfFaults(); err != nil {
		return err
	}
	if string(supplier) != string(p.req.Supplier.ID) || !p.live.Campaign.AcceptsSupplier(p.req.Supplier.ID) {
		return &Refusal{Code: Forbidden}
	}
	return nil
}

// idMember returns the text of a required member that is an id, or adds a fault.
func (p *ping) idMember(name string) []byte {
	m := p.findMember(name)
	switch {
	case m != nil && m.Kind != market.JSONString:
		p.addFault(name, errcode.FieldWrongType, "a string")
	case m == nil:
		p.addFault(name, errcode.FieldMissingRequired, "a string")
	default:
		return m.Text
	}
	return nil
}

// setCampaign sets the campaign, or adds a fault if it is unknown, paused, or has no
// auctions.
func (p *ping) setCampaign(campaign []byte) {
	if len(campaign) == 0 {
		return
	}
	p.live = p.plan.liveCampaign(market.CampaignID(campaign), p.test)
	if p.live == nil {
		p.addFault(memberCampaign, errcode.FieldUnknown, "the id of a campaign")
		return
	}
	paused, _ := p.engine.state.PauseStatus(event.ObjectCampaign, p.live.Campaign.Ref)
	if paused || p.live.Campaign.Method != market.PingPost {
		p.addFault(memberCampaign, errcode.FieldInactive, "the id of a ping_post campaign that takes leads now")
	}
}
