package engine

import (
	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// The members of an ingest that the exchange itself reads.
const (
	memberCampaign = "flo_campaign_id"
	memberSupplier = "flo_supplier_id"
	memberPing     = "flo_ping_id"
	memberBuyer    = "flo_buyer_id"
)

// How a request says that it is a test, as faults name it.
const (
	headerTest   = "X-Pingpost-Test"
	expectedTest = "1 or true for a test; 0, false or nothing for a lead in earnest"
)

// check finds the campaign and maps the body, or says all that is wrong.
func (in *ingest) check() error {
	var campaign, supplier []byte
	for i := range in.req.Members {
		member := &in.req.Members[i]
		switch string(member.Name) {
		case memberCampaign:
			campaign = in.name(member)
		case memberSupplier:
			supplier = in.name(member)
		}
	}
	if in.req.BadKey {
		in.fault("Idempotency-Key", errcode.FieldInvalidFormat, "1 to 255 visible ASCII characters")
	}
	if in.req.BadTest {
		in.fault(headerTest, errcode.FieldInvalidFormat, expectedTest)
	}
	in.faults = append(in.faults, in.req.Faults...)
	in.require(memberCampaign, campaign)
	in.require(memberSupplier, supplier)
	in.find(campaign)
	if err := in.findChoice(); err != nil {
		return err
	}
	if in.open != nil {
		in.fill()
	}
	if len(in.faults) > 0 {
		return in.refuse(InvalidPayload)
	}
	if string(supplier) != string(in.req.Supplier.ID) || !in.open.Campaign.AcceptsSupplier(in.req.Supplier.ID) {
		return in.refuse(Forbidden)
	}
	return nil
}

// name reads a member that must be a string.
func (in *ingest) name(member *market.Member) []byte {
	switch {
	case member.IsMissing():
	case member.Kind == market.JSONString:
		return member.Text
	default:
		in.fault(string(member.Name), errcode.FieldWrongType, "a string")
	}
	return nil
}

func (in *ingest) require(member string, value []byte) {
	if len(value) > 0 {
		return
	}
	for i := range in.faults {
		if in.faults[i].Field == member {
			return
		}
	}
	in.fault(member, errcode.FieldMissingRequired, "a string")
}

// find looks the campaign up and sees whether it takes leads now.
func (in *ingest) find(campaign []byte) {
	if len(campaign) == 0 {
		return
	}
	in.open = in.plan.campaign(market.CampaignID(campaign), in.test)
	switch {
	case in.open == nil:
		in.fault(memberCampaign, errcode.FieldUnknown, "the id of a campaign")
	case in.paused():
		in.fault(memberCampaign, errcode.FieldInactive, "the id of a campaign that takes leads now")
	}
}

func (in *ingest) paused() bool {
	paused, _ := in.engine.state.Paused(event.NameCampaign, in.open.Campaign.Ref)
	return paused
}

func (in *ingest) fault(field, code, expected string) {
	in.faults = append(in.faults, market.FieldError{Field: field, Code: code, Expected: expected})
}

func (in *ingest) refuse(code RefusalCode) error {
	refusal := &Refusal{Code: code}
	if code == InvalidPayload {
		refusal.Fields = append([]market.FieldError(nil), in.faults...)
	}
	return refusal
}
