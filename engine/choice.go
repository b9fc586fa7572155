package engine

import (
	"errors"

	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// findBidChoice finds the bid that an ingest accepts: the bid of the buyer that it names,
// in the auction of the ping that it names. The ping must belong to this supplier and this
// campaign. Otherwise findBidChoice adds a fault for the wrong member.
func (in *ingest) findBidChoice() error {
	ping, buyer := in.findMember(memberPing), in.findMember(memberBuyer)
	switch {
	case ping == nil && buyer == nil:
		return nil
	case ping == nil:
		in.addChoiceFault(memberPing)
	case buyer == nil:
		in.addChoiceFault(memberBuyer)
	case in.live != nil:
		return in.findChosenBid(ping, buyer)
	}
	return nil
}

func (in *ingest) findChosenBid(ping, buyer *market.Member) error {
	e, p := in.engine, &in.accepted
	id, ok := market.ParsePingID(textOf(ping))
	if !ok {
		in.addChoiceFault(memberPing)
		return nil
	}
	row, ok := e.state.Auction(e.auctionName(byPingID.forTest(in.test), in.req.Supplier, id[:]), in.now)
	if !ok {
		in.addChoiceFault(memberPing)
		return nil
	}
	if err := in.readAuction(&row); err != nil || p.forgotten {
		return err
	}
	if p.auction.campaign != in.live.Campaign.Ref {
		p.auction = nil
		in.addChoiceFault(memberPing)
		return nil
	}
	if p.bid = p.auction.bidOf(e.state.RefOf(event.ObjectBuyer, textOf(buyer))); p.bid == nil {
		in.addChoiceFault(memberBuyer)
	}
	return nil
}

func (in *ingest) addChoiceFault(member string) {
	in.addFault(member, errcode.FieldUnknown, "a ping of yours and a buyer that it offered, given together")
}

// findMember returns a member of the body, or nil if it is missing, null or empty.
func (in *ingest) findMember(name string) *market.Member {
	for i := range in.req.Members {
		if m := &in.req.Members[i]; string(m.Name) == name && !m.IsMissing() {
			return m
		}
	}
	return nil
}

// textOf returns the text of a JSON string, or "" for other kinds.
func textOf(m *market.Member) string {
	if m.Kind != market.JSONString {
		return ""
	}
	return string(m.Text)
}

// fillLead maps the body. If the lead accepts a bid, missing fields come from the ping.
func (in *ingest) fillLead() {
	mapping := in.live.Campaign.Mapping
	in.lead.Reset(mapping.SlotCount())
	if in.accepted.auction == nil {
		in.faults = mapping.Fill(&in.lead, in.req.Members, in.faults)
	} else {
		in.fillFromPing(mapping)
		in.faults = mapping.FillFromPost(&in.lead, in.req.Members, &in.accepted.pingLead, in.faults)
		in.checkAgainstPing(mapping.ArrivalName(market.SlotState), mapping.ArrivalName(market.SlotZip))
	}
	in.faults = in.lead.CheckConsent(in.live.Campaign, in.faults, "consent_cert_url")
}

// sellToChosenBuyer sells the lead to the buyer that its supplier chose, at that buyer's
// bid. If the bid was used or has expired, the lead stays unsold.
func (in *ingest) sellToChosenBuyer() (Answer, error) {
	code, reason, err := in.acceptBid()
	if errors.Is(err, errDeadline) {
		reason, err = market.ReasonTimeout, nil
	}
	switch {
	case err != nil:
		return Answer{}, err
	case code != "":
		reason = market.ReasonBidExpired
	}
	if reason != market.ReasonNone {
		return in.recordUnsold(reason)
	}
	return in.sellAtBid()
}
