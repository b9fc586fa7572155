package engine

import (
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
)

// Headers of a request and their valid values, for field errors.
const (
	headerKey    = "Idempotency-Key"
	expectedKey  = "1 to 255 visible ASCII characters"
	headerTest   = "X-Pingpost-Test"
	expectedTest = "1 or true for a test lead; 0, false or no header for a production lead"
)

// leadRequest is the validated input of an ingest or a post: the campaign, the lead's fields, and
// the bid that the supplier accepts, if any.
type leadRequest struct {
	commonRequestFields
	*Decision // the result in progress

	req        *IngestRequest
	plan       *compiledCatalog
	test       bool // the lead is a test lead
	live       *liveCampaign
	lead       market.Lead
	accepted   acceptedBid
	faults     []market.FieldError
	inList     func(*market.SuppressionList) bool // isSuppressedBy, bound once
	listProbes []uint64                           // memory for isSuppressedBy
	hashInput  []byte                             // memory for hashIdempotencyKey
}

// parseIngestRequest finds the campaign of an ingest and maps the body to its fields. It returns a
// *Refusal with all faults at once, or nil. The refusal is Forbidden if the body names another
// supplier, or the supplier may not use the campaign. ErrUnavailable: the log record of the ping
// whose bid the lead accepts cannot be read.
func (in *leadRequest) parseIngestRequest() error {
	var campaign, supplier []byte
	for i := range in.req.Members {
		member := &in.req.Members[i]
		switch string(member.Name) {
		case memberCampaign:
			campaign = in.textOrAddTypeFault(member)
		case memberSupplier:
			supplier = in.textOrAddTypeFault(member)
		}
	}
	in.faults = appendMalformedHeaderFaults(in.faults, in.req.BadKey, in.req.BadTest)
	in.faults = append(in.faults, in.req.Faults...)
	in.addFaultIfEmpty(memberCampaign, campaign)
	in.addFaultIfEmpty(memberSupplier, supplier)
	in.setActiveCampaignByID(campaign)
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
	return nil
}

// textOrAddTypeFault returns the text of a body member, or nil if it is missing. If the member is
// no string, textOrAddTypeFault returns nil and adds a fault.
func (in *leadRequest) textOrAddTypeFault(member *market.JSONMember) []byte {
	switch {
	case member.CountsAsMissing():
	case member.Kind == market.JSONString:
		return member.Text
	default:
		in.addFault(string(member.Name), errcode.FieldWrongType, "a string")
	}
	return nil
}

// addFaultIfEmpty adds a fault if a required member has no value, unless the member already has a
// fault, such as a wrong type.
func (in *leadRequest) addFaultIfEmpty(member string, value []byte) {
	if len(value) > 0 {
		return
	}
	for i := range in.faults {
		if in.faults[i].Field == member {
			return
		}
	}
	in.addFault(member, errcode.FieldMissingRequired, "a string")
}

// setActiveCampaignByID sets the lead's campaign from its id, and adds a fault if the campaign is
// unknown or paused. An empty id already has its fault.
func (in *leadRequest) setActiveCampaignByID(id []byte) {
	if len(id) == 0 {
		return
	}
	in.live = in.plan.findCampaign(market.CampaignID(id), in.test)
	switch {
	case in.live == nil:
		in.addFault(memberCampaign, errcode.FieldUnknown, "the id of a campaign")
	case in.isCampaignPaused():
		in.addFault(memberCampaign, errcode.FieldInactive, "the id of a campaign that takes leads now")
	}
}

func (in *leadRequest) isCampaignPaused() bool {
	paused, _ := in.engine.state.PauseStatus(event.ObjectCampaign, in.live.Campaign.Ref)
	return paused
}

func (in *leadRequest) addFault(field, code, expected string) {
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

func (in *leadRequest) newRefusal(code RefusalCode) error {
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
func (in *leadRequest) findBidByPingAndBuyerOrAddFault() error {
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

func (in *leadRequest) findPingBidOrAddFault(pingMember, buyerMember *market.JSONMember) error {
	e, p := in.engine, &in.accepted
	id, ok := market.ParsePingID(stringValueOf(pingMember))
	if !ok {
		in.addNamedBidFault(memberPing)
		return nil
	}
	row, ok := e.state.FindAuction(e.hashAuctionName(pastauction.ByPingID.ForTest(in.test), in.req.Supplier, id[:]), in.now)
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

func (in *leadRequest) addNamedBidFault(member string) {
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
func (in *leadRequest) mapIngestFieldsAndAddFaults() {
	mapping := in.live.Campaign.Mapping
	in.lead.Reset(mapping.SlotCount())
	if in.accepted.auction == nil {
		in.faults = mapping.FillLeadFromIngest(&in.lead, in.req.Members, in.faults)
	} else {
		in.fillPingLeadFromAuction(mapping)
		in.faults = mapping.FillLeadFromPost(&in.lead, in.req.Members, &in.accepted.pingLead, in.faults)
		in.addFaultIfLocationDiffers(mapping.ArrivalName(market.SlotState), mapping.ArrivalName(market.SlotZip))
	}
	in.faults = in.lead.AppendConsentError(in.live.Campaign, in.faults, "consent_cert_url")
}

// isSuppressedBy reports whether a suppression list has one of the lead's values, for example its
// phone number.
func (in *leadRequest) isSuppressedBy(list *market.SuppressionList) bool {
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
