package engine

import (
	"bytes"

	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/pastauction"
)

// The members of an ingest that the exchange defines.
const (
	memberCampaign = "flo_campaign_id"
	memberSupplier = "flo_supplier_id"
	memberPing     = "flo_ping_id"
	memberBuyer    = "flo_buyer_id"

	aliasCampaign = "campaign_id"
	aliasSupplier = "supplier_id"

	expectedCampaign = "a string: the id of the campaign, as campaign_id or flo_campaign_id"
	expectedSupplier = "a string: the id of the supplier, as supplier_id or flo_supplier_id"
)

// Headers of a request and their valid values, for field errors.
const (
	headerKey    = "Idempotency-Key"
	expectedKey  = "1 to 255 visible ASCII characters"
	headerTest   = "X-Pingpost-Test"
	expectedTest = "1 or true for a test lead; 0, false or no header for a production lead"
)

// ingestOrPostInput is the validated input of an ingest or a post: the campaign, the lead's fields, and
// the bid that the supplier accepts, if any.
type ingestOrPostInput struct {
	commonRequestFields
	*PendingLeadDecision // the result in progress

	req        *IngestRequest
	plan       *compiledCatalog
	test       bool // the lead is a test lead
	live       *compiledCampaign
	lead       market.Lead
	accepted   acceptedBid
	faults     []market.FieldError
	inList     func(*market.SuppressionListDefinition) bool // isSuppressedBy, bound once
	listProbes []uint64                                     // memory for isSuppressedBy
	hashInput  []byte                                       // memory for hashIdempotencyKey
}

// parseIngestRequest finds the campaign of an ingest and maps the body to its fields. It returns a
// *Refusal with all faults at once, or nil. The refusal is Forbidden if the body names another
// supplier, or the supplier may not use the campaign. ErrUnavailable: the log record of the ping
// whose bid the lead accepts cannot be read. in.live then has the terms that apply to the lead.
func (in *ingestOrPostInput) parseIngestRequest() error {
	ids := findIDsAndRenameAliases(in.req.Members, in.plan, in.test)
	in.faults = appendMalformedHeaderFaults(in.faults, in.req.BadKey, in.req.BadTest)
	in.faults = append(in.faults, in.req.Faults...)
	var campaign, supplier []byte
	campaign, supplier, in.faults = ids.readIDsAndAddFaults(in.faults)
	in.setCampaignOrAddFault(campaign, ids.campaign.usedName())
	if err := in.findBidByPingAndBuyerOrAddFault(); err != nil {
		return err
	}
	if in.live != nil {
		in.mapIngestFieldsAndAddFaults()
	}
	if len(in.faults) > 0 {
		return in.newRefusal(InvalidPayload)
	}
	if string(supplier) != string(in.req.Supplier.ID) || !in.live.Campaign.AcceptsSupplier(in.req.Supplier.ID) {
		return in.newRefusal(Forbidden)
	}
	in.live = in.live.selfOrWithTerms(in.req.Supplier, &in.lead)
	return nil
}

// idWithAlias is an id that the body of an ingest or an availability ping has under one of two names: its
// first name, such as flo_campaign_id, or the alias campaign_id. Both mean the same. An alias counts
// only if the campaign has no field of that name.
type idWithAlias struct {
	name, alias         string
	member, aliasMember *market.JSONMember // nil: missing, null or blank
	aliasIsField        bool               // the campaign has a field with the name of the alias
	expected            string             // the expected value if the id is missing
}

type campaignAndSupplierIDs struct{ campaign, supplier idWithAlias }

// readIDsAndAddFaults returns the ids, and appends a fault for each id that is missing or invalid. If the body
// has one id under its alias, the fault of a missing one names the alias too.
func (ids *campaignAndSupplierIDs) readIDsAndAddFaults(faults []market.FieldError) (campaign, supplier []byte, _ []market.FieldError) {
	usesAlias := ids.campaign.isUnderAlias() || ids.supplier.isUnderAlias()
	campaign, faults = ids.campaign.readIDOrAddFault(faults, usesAlias)
	supplier, faults = ids.supplier.readIDOrAddFault(faults, usesAlias)
	return campaign, supplier, faults
}

// The first names of the ids, for members that have the alias.
var (
	campaignMemberName = []byte(memberCampaign)
	supplierMemberName = []byte(memberSupplier)
)

// findIDsAndRenameAliases finds the ids in a body. It renames members with an alias to the first name, so that
// the lead's fields, and a buyer's post, do not depend on the name that the supplier used.
//
// A campaign can have its own field campaign_id or supplier_id. The member is then that field, and
// the supplier has to send the id under the first name, as before the aliases existed.
func findIDsAndRenameAliases(members []market.JSONMember, plan *compiledCatalog, test bool) (ids campaignAndSupplierIDs) {
	ids.campaign.name, ids.campaign.alias, ids.campaign.expected = memberCampaign, aliasCampaign, expectedCampaign
	ids.supplier.name, ids.supplier.alias, ids.supplier.expected = memberSupplier, aliasSupplier, expectedSupplier
	for i := range members {
		member := &members[i]
		if member.CountsAsMissing() {
			continue
		}
		switch string(member.Name) {
		case memberCampaign:
			ids.campaign.member = member
		case memberSupplier:
			ids.supplier.member = member
		case aliasCampaign:
			ids.campaign.aliasMember = member
		case aliasSupplier:
			ids.supplier.aliasMember = member
		}
	}
	if ids.campaign.aliasMember == nil && ids.supplier.aliasMember == nil {
		return ids
	}
	if member, _ := ids.campaign.memberAndNameUsed(); member != nil {
		if live := plan.findCampaignOrItsTestCampaign(market.CampaignID(stringValueOf(member)), test); live != nil {
			ids.campaign.ignoreAliasIfField(live.Campaign.Mapping)
			ids.supplier.ignoreAliasIfField(live.Campaign.Mapping)
		}
	}
	if m := ids.campaign.aliasMember; m != nil {
		m.Name = campaignMemberName
	}
	if m := ids.supplier.aliasMember; m != nil {
		m.Name = supplierMemberName
	}
	return ids
}

// ignoreAliasIfField treats the alias as missing if it is the name of a field of the campaign.
func (id *idWithAlias) ignoreAliasIfField(mapping *market.FieldMapping) {
	if _, id.aliasIsField = mapping.SlotByNameFromSuppliers(id.alias); id.aliasIsField {
		id.aliasMember = nil
	}
}

// memberAndNameUsed returns the member with the id and the name that the supplier used.
// The member is nil if the id is missing.
func (id *idWithAlias) memberAndNameUsed() (member *market.JSONMember, name string) {
	if id.isUnderAlias() {
		return id.aliasMember, id.alias
	}
	return id.member, id.name
}

// isUnderAlias reports whether the body has the id under its alias only.
func (id *idWithAlias) isUnderAlias() bool { return id.member == nil && id.aliasMember != nil }

func (id *idWithAlias) usedName() string {
	_, name := id.memberAndNameUsed()
	return name
}

// readIDOrAddFault returns the text of the id, and appends a fault if the id is missing, is no string, or
// has different values under its two names. usesAlias: the fault of a missing id names the alias.
func (id *idWithAlias) readIDOrAddFault(faults []market.FieldError, usesAlias bool) ([]byte, []market.FieldError) {
	member, name := id.memberAndNameUsed()
	fault := market.FieldError{Field: name, Expected: "a string"}
	switch {
	case member == nil:
		fault.Code = errcode.FieldMissingRequired
		if !id.aliasIsField {
			fault.Expected = id.expected
			if usesAlias {
				fault.Field = id.alias
			}
		}
	case member.Kind != market.JSONString:
		fault.Code = errcode.FieldWrongType
	case id.member != nil && id.aliasMember != nil && (id.aliasMember.Kind != market.JSONString || !bytes.Equal(id.member.Text, id.aliasMember.Text)):
		return member.Text, append(faults, market.FieldError{
			Field: id.alias, Code: errcode.FieldNotAllowedValue, Expected: "the value of " + id.name + ", or only one of " + id.alias + " and " + id.name,
		})
	default:
		return member.Text, faults
	}
	return nil, append(faults, fault)
}

// setCampaignOrAddFault sets the lead's campaign from its id, and adds a fault for the member if the
// campaign is unknown or paused. An empty id already has its fault.
func (in *ingestOrPostInput) setCampaignOrAddFault(id []byte, member string) {
	if len(id) == 0 {
		return
	}
	in.live = in.plan.findCampaignOrItsTestCampaign(market.CampaignID(id), in.test)
	switch {
	case in.live == nil:
		in.addFault(member, errcode.FieldUnknown, "the id of a campaign")
	case in.isCampaignPaused():
		in.addFault(member, errcode.FieldInactive, "the id of a campaign that takes leads now")
	}
}

func (in *ingestOrPostInput) isCampaignPaused() bool {
	paused, _ := in.engine.state.PauseStatus(event.ObjectCampaign, in.live.Campaign.Ref)
	return paused
}

func (in *ingestOrPostInput) addFault(field, code, expected string) {
	in.faults = append(in.faults, market.FieldError{Field: field, Code: code, Expected: expected})
}

// appendMalformedHeaderFaults appends the faults of the headers that are malformed.
func appendMalformedHeaderFaults(faults []market.FieldError, isKeyMalformed, isTestMalformed bool) []market.FieldError {
	if isKeyMalformed {
		faults = append(faults, market.FieldError{Field: headerKey, Code: errcode.FieldInvalidFormat, Expected: expectedKey})
	}
	if isTestMalformed {
		faults = append(faults, market.FieldError{Field: headerTest, Code: errcode.FieldInvalidFormat, Expected: expectedTest})
	}
	return faults
}

// appendMissingKeyFault appends the fault of a required Idempotency-Key header that is missing.
func appendMissingKeyFault(faults []market.FieldError, key []byte, isKeyMalformed bool) []market.FieldError {
	if len(key) == 0 && !isKeyMalformed {
		faults = append(faults, market.FieldError{Field: headerKey, Code: errcode.FieldMissingRequired, Expected: expectedKey})
	}
	return faults
}

func (in *ingestOrPostInput) newRefusal(code RefusalCode) error {
	refusal := &Refusal{Code: code}
	if code == InvalidPayload {
		refusal.Fields = append([]market.FieldError(nil), in.faults...)
	}
	return refusal
}

// findBidByPingAndBuyerOrAddFault finds the bid that an ingest accepts, if it names a ping
// (flo_ping_id) and a buyer (flo_buyer_id). It is the buyer's bid in the auction of that ping. The
// ping must belong to this supplier and this campaign. Otherwise findBidByPingAndBuyerOrAddFault
// adds a fault for the wrong member. If the log's history no longer has the auction, it sets
// accepted.forgotten instead.
func (in *ingestOrPostInput) findBidByPingAndBuyerOrAddFault() error {
	ping, buyer := findBodyMember(in.req.Members, memberPing), findBodyMember(in.req.Members, memberBuyer)
	switch {
	case ping == nil && buyer == nil:
		return nil
	case ping == nil:
		in.addNamedBidFault(memberPing)
	case buyer == nil:
		in.addNamedBidFault(memberBuyer)
	case in.live != nil:
		return in.findPingBidOrAddFault(ping, buyer)
	}
	return nil
}

func (in *ingestOrPostInput) findPingBidOrAddFault(pingMember, buyerMember *market.JSONMember) error {
	e, p := in.engine, &in.accepted
	id, ok := market.ParsePingID(stringValueOf(pingMember))
	if !ok {
		in.addNamedBidFault(memberPing)
		return nil
	}
	row, ok := e.state.FindAuction(e.computeAuctionName(pastauction.ByPingID.ForTest(in.test), in.req.Supplier, id[:]), in.now)
	if !ok {
		in.addNamedBidFault(memberPing)
		return nil
	}
	if err := in.readAuctionAndAdvanceTime(&row); err != nil || p.forgotten {
		return err
	}
	if p.auction.Campaign != in.live.Campaign.Ref {
		p.auction = nil
		in.addNamedBidFault(memberPing)
		return nil
	}
	if p.bid = p.auction.ValidBidOfBuyer(e.state.RefOf(event.ObjectBuyer, stringValueOf(buyerMember))); p.bid == nil {
		in.addNamedBidFault(memberBuyer)
	}
	return nil
}

func (in *ingestOrPostInput) addNamedBidFault(member string) {
	in.addFault(member, errcode.FieldUnknown, "a ping of yours and a buyer that it offered, given together")
}

// findBodyMember returns the member of the body with this name, or nil if it is missing, null or a
// blank string.
func findBodyMember(members []market.JSONMember, name string) *market.JSONMember {
	for i := range members {
		if m := &members[i]; string(m.Name) == name && !m.CountsAsMissing() {
			return m
		}
	}
	return nil
}

// stringValueOf returns the text of a body member if it is a JSON string, and otherwise "".
func stringValueOf(m *market.JSONMember) string {
	if m.Kind != market.JSONString {
		return ""
	}
	return string(m.Text)
}

// mapIngestFieldsAndAddFaults maps the members of the body to the campaign's fields, and adds
// faults. If the lead accepts a bid, fields that the body leaves out come from the bid's ping.
func (in *ingestOrPostInput) mapIngestFieldsAndAddFaults() {
	mapping := in.live.Campaign.Mapping
	in.lead.Reset(mapping.SlotCount())
	in.setDecisionTimeOfLead()
	if in.accepted.auction == nil {
		in.faults = mapping.FillLeadFromIngest(&in.lead, in.req.Members, in.faults)
	} else {
		in.fillPingLeadFromAuction(mapping)
		in.faults = mapping.FillLeadFromPost(&in.lead, in.req.Members, &in.accepted.pingLead, in.faults)
		in.addFaultIfPingDiffers(mapping.FieldNameFromSuppliers(market.SlotState), mapping.FieldNameFromSuppliers(market.SlotZip), mapping.FieldNameFromSuppliers(market.SlotSource))
	}
	in.faults = in.lead.AppendConsentCertificateError(in.live.Campaign, in.faults, "consent_cert_url")
}

// setDecisionTimeOfLead sets the time at which filters compute ages: of the auction whose bid the lead
// accepts, or now.
func (in *ingestOrPostInput) setDecisionTimeOfLead() {
	at := in.now
	if in.accepted.auction != nil {
		at = in.accepted.auction.Began
	}
	in.lead.SetDecisionTime(at, in.live.Campaign.Zone)
}

// isSuppressedBy reports whether a suppression list has one of the lead's values, for example its
// phone number.
func (in *ingestOrPostInput) isSuppressedBy(list *market.SuppressionListDefinition) bool {
	table := in.plan.tables[list.Ref]
	if table == nil {
		return false
	}
	in.listProbes = list.AppendLeadFingerprints(&in.lead, &in.engine.opt.Secret, in.listProbes[:0])
	for _, probe := range in.listProbes {
		if table.Has(probe) {
			return true
		}
	}
	return false
}
