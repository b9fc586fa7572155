package engine

import (
	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// checkAvailability reads an availability ping and finds its campaign. It returns a *Refusal
// with all faults at once.
func (p *ping) checkAvailability() error {
	if p.req.BadKey {
		p.addFault("Idempotency-Key", errcode.FieldInvalidFormat, "1 to 255 visible ASCII characters")
	}
	p.checkHead()
	campaign := p.readID(memberCampaign)
	supplier := p.readID(memberSupplier)
	p.findCampaign(campaign)
	mapping := p.mapping()
	p.lead.Reset(mapping.SlotCount())
	p.faults = mapping.FillFromPing(&p.lead, p.req.Members, 0, p.faults)
	if err := p.refusal(); err != nil {
		return err
	}
	if string(supplier) != string(p.req.Supplier.ID) || !p.live.Campaign.AcceptsSupplier(p.req.Supplier.ID) {
		return &Refusal{Code: Forbidden}
	}
	return nil
}

// readID returns the text of a required member that is an id, or adds a fault.
func (p *ping) readID(name string) []byte {
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

// findCampaign sets the campaign, or adds a fault if it is unknown, paused, or has no
// auctions.
func (p *ping) findCampaign(campaign []byte) {
	if len(campaign) == 0 {
		return
	}
	p.live = p.plan.campaign(market.CampaignID(campaign), p.test)
	if p.live == nil {
		p.addFault(memberCampaign, errcode.FieldUnknown, "the id of a campaign")
		return
	}
	paused, _ := p.engine.state.PauseStatus(event.ObjectCampaign, p.live.Campaign.Ref)
	if paused || p.live.Campaign.Method != market.PingPost {
		p.addFault(memberCampaign, errcode.FieldInactive, "the id of a ping_post campaign that takes leads now")
	}
}
