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

// The members of a ping's body that describe the ping and are not fields of the lead.
const (
	memberAuction     = "auction_id"
	memberVertical    = "vertical"
	memberSubVertical = "sub_vertical"
	memberExpires     = "expires_at"
)

// maxNameText limits the length, in characters, of the seller's auction_id, vertical and
// sub_vertical in a ping.
const maxNameText = 255

// noCampaignMapping is the field mapping for a ping that matches no campaign. It checks the standard
// fields, refuses contact data and accepts unknown fields.
var noCampaignMapping = func() *market.FieldMapping {
	mapping, mistakes := market.NewFieldMapping(market.FieldMappingSpec{Unknown: market.UnknownKeep})
	if len(mistakes) > 0 {
		panic("BUG: the mapping without custom fields is invalid")
	}
	return mapping
}()

// driverFields are optional fields of a seller's ping that describe the driver. Their type is checked
// even if the campaign does not map them.
var driverFields = [...]struct {
	name     string
	kind     market.JSONKind
	expected string
}{
	{"currently_insured", market.JSONBoolean, "true or false"},
	{"vehicle_count", market.JSONNumber, "an integer"},
	{"driver_age_band", market.JSONString, "a string, such as 25-34"},
}

// parseSellerPing reads a seller's ping and finds the campaign for its line of business. It
// returns a *Refusal with all faults at once, or nil.
func (p *pingWorkspace) parseSellerPing() (refusal error) {
	p.faults = appendMissingKeyFault(p.faults, p.req.Key, p.req.BadKey)
	p.addFaultsOutsideBody()
	p.sellerAuction = p.parsePrintableMember(memberAuction, true)
	vertical := p.parsePrintableMember(memberVertical, true)
	subVertical := p.parsePrintableMember(memberSubVertical, false)
	p.parseSellerAnswerDeadline()
	p.live = p.engine.findAuctionCampaign(p.plan, p.req.Supplier.ID, vertical, subVertical, p.test)
	mapping := p.mappingOfCampaignOrDefault()
	p.lead.Reset(mapping.SlotCount())
	p.faults = mapping.FillLeadFromPing(&p.lead, p.req.Members, market.UnknownKeep, p.faults)
	p.faults = mapping.AppendMissingFieldErrors(&p.lead, p.faults, market.SlotState, market.SlotTCPAConsent)
	p.checkUnmappedDriverFields(mapping)
	return p.refusalIfAnyFault()
}

// addFaultsOutsideBody adds the faults of the request outside its body, such as a malformed test
// header.
func (p *pingWorkspace) addFaultsOutsideBody() {
	p.faults = appendMalformedHeaderFaults(p.faults, p.req.BadKey, p.req.BadTest)
	p.faults = append(p.faults, p.req.Faults...)
}

// mappingOfCampaignOrDefault returns the field mapping of the ping's campaign, or noCampaignMapping if no
// campaign matches.
func (p *pingWorkspace) mappingOfCampaignOrDefault() *market.FieldMapping {
	if p.live == nil {
		return noCampaignMapping
	}
	return p.live.Campaign.Mapping
}

// refusalIfAnyFault returns a *Refusal with all faults found so far, or nil if there are none.
func (p *pingWorkspace) refusalIfAnyFault() (refusal error) {
	if len(p.faults) == 0 {
		return nil
	}
	return &Refusal{Code: InvalidPayload, Fields: append([]market.FieldError(nil), p.faults...)}
}

func (p *pingWorkspace) addFault(field, code, expected string) {
	p.faults = append(p.faults, market.FieldError{Field: field, Code: code, Expected: expected})
}

// parsePrintableMember returns the text of a body member that is a name or an id, such as
// auction_id. The text must be a string of at most maxNameText printable characters. A blank text
// counts as missing. For an invalid or a missing required member, it adds a fault and returns nil.
func (p *pingWorkspace) parsePrintableMember(name string, required bool) []byte {
	const expected = "a string of 1 to 255 printable characters"
	m := findBodyMember(p.req.Members, name)
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

// parseSellerAnswerDeadline reads expires_at, the time at which the seller stops waiting for the answer. It
// never extends the auction beyond maxBidValidity.
func (p *pingWorkspace) parseSellerAnswerDeadline() {
	const expected = "a future time in RFC 3339 form, such as 2026-01-31T09:30:00Z"
	m := findBodyMember(p.req.Members, memberExpires)
	if m == nil {
		return
	}
	if m.Kind != market.JSONString {
		p.addFault(memberExpires, errcode.FieldWrongType, expected)
		return
	}
	at, ok := format.ParseTimestampClamped(m.Text)
	switch {
	case !ok:
		p.addFault(memberExpires, errcode.FieldInvalidFormat, expected)
	case at <= p.now:
		p.addFault(memberExpires, errcode.FieldExpired, expected)
	default:
		p.expires = min(p.expires, at)
	}
}

// checkUnmappedDriverFields checks the JSON types of the driver fields (such as vehicle_count) that the
// campaign does not map, and adds faults. For mapped driver fields the mapping has checked the type.
func (p *pingWorkspace) checkUnmappedDriverFields(mapping *market.FieldMapping) {
	for i := range driverFields {
		signal := &driverFields[i]
		m := findBodyMember(p.req.Members, signal.name)
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

// hasCustomField reports whether the mapping has a custom field whose name in requests is name.
func hasCustomField(mapping *market.FieldMapping, name string) bool {
	for slot := market.FirstCustomSlot; int(slot) < mapping.SlotCount(); slot++ {
		if mapping.FieldNameFromSuppliers(slot) == name {
			return true
		}
	}
	return false
}

// parseAvailabilityPing reads an availability ping, which names its campaign. It returns a
// *Refusal with all faults at once, or nil. The refusal is Forbidden if the body names another
// supplier, or the supplier may not use the campaign.
func (p *pingWorkspace) parseAvailabilityPing() (refusal error) {
	p.addFaultsOutsideBody()
	ids := findIDsAndRenameAliases(p.req.Members, p.plan, p.test)
	var campaign, supplier []byte
	campaign, supplier, p.faults = ids.readIDsAndAddFaults(p.faults)
	p.setCampaignOrAddFault(campaign, ids.campaign.usedName())
	mapping := p.mappingOfCampaignOrDefault()
	p.lead.Reset(mapping.SlotCount())
	p.faults = mapping.FillLeadFromPing(&p.lead, p.req.Members, 0, p.faults)
	if err := p.refusalIfAnyFault(); err != nil {
		return err
	}
	if string(supplier) != string(p.req.Supplier.ID) || !p.live.Campaign.AcceptsSupplier(p.req.Supplier.ID) {
		return &Refusal{Code: Forbidden}
	}
	return nil
}

// setCampaignOrAddFault sets the ping's campaign from its id. It adds a fault for the member
// if the campaign is unknown, paused, or not of the method ping_post. An empty id already has its fault.
func (p *pingWorkspace) setCampaignOrAddFault(id []byte, member string) {
	if len(id) == 0 {
		return
	}
	p.live = p.plan.findCampaignOrItsTestCampaign(market.CampaignID(id), p.test)
	if p.live == nil {
		p.addFault(member, errcode.FieldUnknown, "the id of a campaign")
		return
	}
	paused, _ := p.engine.state.PauseStatus(event.ObjectCampaign, p.live.Campaign.Ref)
	if paused || p.live.Campaign.Method != market.PingPost {
		p.addFault(member, errcode.FieldInactive, "the id of a ping_post campaign that takes leads now")
	}
}
