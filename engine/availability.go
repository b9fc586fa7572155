package engine

import (
	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// checkAvailability reads a supplier's question who is there to buy, or says all
// that is wrong with it.
func (p *ping) checkAvailability() error {
	if p.req.BadKey {
		p.fault("Idempotency-Key", errcode.FieldInvalidFormat, "1 to 255 visible ASCII characters")
	}
	p.checkHead()
	campaign := p.address(memberCampaign)
	supplier := p.address(memberSupplier)
	p.find(campaign)
	mapping := p.mapping()
	p.lead.Reset(mapping.Slots())
	p.faults = mapping.FillPing(&p.lead, p.req.Members, 0, p.faults)
	if err := p.verdict(); err != nil {
		return err
	}
	if string(supplier) != string(p.req.Supplier.ID) || !p.open.Campaign.AcceptsSupplier(p.req.Supplier.ID) {
		return &Refusal{Code: Forbidden}
	}
	return nil
}

// address reads a member that says where the ping belongs.
func (p *ping) address(name string) []byte {
	m := p.member(name)
	switch {
	case m != nil && m.Kind != market.JSONString:
		p.fault(name, errcode.FieldWrongType, "a string")
	case m == nil:
		p.fault(name, errcode.FieldMissingRequired, "a string")
	default:
		return m.Text
	}
	return nil
}

// find looks the campaign up and sees whether auctions are held in it now.
func (p *ping) find(campaign []byte) {
	if len(campaign) == 0 {
		return
	}
	p.open = p.plan.campaign(market.CampaignID(campaign), p.test)
	if p.open == nil {
		p.fault(memberCampaign, errcode.FieldUnknown, "the id of a campaign")
		return
	}
	paused, _ := p.engine.state.Paused(event.NameCampaign, p.open.Campaign.Ref)
	if paused || p.open.Campaign.Method != market.PingPost {
		p.fault(memberCampaign, errcode.FieldInactive, "the id of a ping_post campaign that takes leads now")
	}
}
