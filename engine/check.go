package engine

import (
	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// The members of an ingest that the exchange defines.
const (
	memberCampaign = "flo_campaign_id"
	memberSupplier = "flo_supplier_id"
	memberPing     = "flo_ping_id"
	memberBuyer    = "flo_buyer_id"
)

// The header that marks a test request, and its values, for field errors.
const (
	headerTest   = "X-Pingpost-Test"
	expectedTest = "1 or true for a test lead; 0, false or no header for a production lead"
)

// check finds the campaign and maps the body. It returns a *Refusal with all faults at
// once.
func (in *ingest) check() error {
	var campaign, supplier []byte
	for i := range in.req.Members {
		member := &in.req.Members[i]
		switch string(member.Name) {
		case memberCampaign:
			campaign = in.readString(member)
		case memberSupplier:
			supplier = in.readString(member)
		}
	}
	if in.req.BadKey {
		in.addFault("Idempotency-Key", errcode.FieldInvalidFormat, "1 to 255 visible ASCII characters")
	}
	if in.req.BadTest {
		in.addFault(headerTest, errcode.FieldInvalidFormat, expectedTest)
	}
	in.faults = append(in.faults, in.req.Faults...)
	in.require(memberCampaign, campaign)
	in.require(memberSupplier, supplier)
	in.findCampaign(campaign)
	if err := in.findBidChoice(); err != nil {
		return err
	}
	if in.live != nil {
		in.fillLead()
	}
	if len(in.faults) > 0 {
		return in.refusal(InvalidPayload)
	}
	if string(supplier) != string(in.req.Supplier.ID) || !in.live.Campaign.AcceptsSupplier(in.req.Supplier.ID) {
		return in.refusal(Forbidden)
	}
	return nil
}

// readString returns the text of a member that must be a string, or adds a fault.
func (in *ingest) readString(member *market.Member) []byte {
	switch {
	case member.IsMissing():
	case member.Kind == market.JSONString:
		return member.Text
	default:
		in.addFault(string(member.Name), errcode.FieldWrongType, "a string")
	}
	return nil
}

// require adds a fault for a member without a value, unless the member has one already.
func (in *ingest) require(member string, value []byte) {
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

// findCampaign sets the campaign, or adds a fault if it is unknown or paused.
func (in *ingest) findCampaign(campaign []byte) {
	if len(campaign) == 0 {
		return
	}
	in.live = in.plan.campaign(market.CampaignID(campaign), in.test)
	switch {
	case in.live == nil:
		in.addFault(memberCampaign, errcode.FieldUnknown, "the id of a campaign")
	case in.isPaused():
		in.addFault(memberCampaign, errcode.FieldInactive, "the id of a campaign that takes leads now")
	}
}

func (in *ingest) isPaused() bool {
	paused, _ := in.engine.state.PauseStatus(event.ObjectCampaign, in.live.Campaign.Ref)
	return paused
}

func (in *ingest) addFault(field, code, expected string) {
	in.faults = append(in.faults, market.FieldError{Field: field, Code: code, Expected: expected})
}

func (in *ingest) refusal(code RefusalCode) error {
	refusal := &Refusal{Code: code}
	if code == InvalidPayload {
		refusal.Fields = append([]market.FieldError(nil), in.faults...)
	}
	return refusal
}
