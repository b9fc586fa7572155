package engine

import (
	"errors"

	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// findChoice finds the bid that an ingest takes up: of the ping that it names, a
// ping of this supplier for this campaign, and of the buyer that it names. What
// is not so is a fault of the member that says it.
func (in *ingest) findChoice() error {
	ping, buyer := in.member(memberPing), in.member(memberBuyer)
	switch {
	case ping == nil && buyer == nil:
		return nil
	case ping == nil:
		in.unknownChoice(memberPing)
	case buyer == nil:
		in.unknownChoice(memberBuyer)
	case in.open != nil:
		return in.findOffer(ping, buyer)
	}
	return nil
}

func (in *ingest) findOffer(ping, buyer *market.Member) error {
	e, p := in.engine, &in.promise
	id, ok := market.ParsePingID(textOf(ping))
	if !ok {
		in.unknownChoice(memberPing)
		return nil
	}
	row, ok := e.state.Auction(e.auctionName(byPingID.in(in.test), in.req.Supplier, id[:]), in.now)
	if !ok {
		in.unknownChoice(memberPing)
		return nil
	}
	if err := in.recall(&row); err != nil || p.gone {
		return err
	}
	if p.auction.campaign != in.open.Campaign.Ref {
		p.auction = nil
		in.unknownChoice(memberPing)
		return nil
	}
	if p.bid = p.auction.of(e.state.RefOf(event.NameBuyer, textOf(buyer))); p.bid == nil {
		in.unknownChoice(memberBuyer)
	}
	return nil
}

func (in *ingest) unknownChoice(member string) {
	in.fault(member, errcode.FieldUnknown, "a ping of yours and a buyer that it offered, given together")
}

// member is one of the body's, or nil where it says nothing.
func (in *ingest) member(name string) *market.Member {
	for i := range in.req.Members {
		if m := &in.req.Members[i]; string(m.Name) == name && !m.IsMissing() {
			return m
		}
	}
	return nil
}

// textOf is a string's text; nothing else has any here.
func textOf(m *market.Member) string {
	if m.Kind != market.JSONString {
		return ""
	}
	return string(m.Text)
}

// fill maps the body, and what it leaves out from the ping whose bid it takes up.
func (in *ingest) fill() {
	mapping := in.open.Campaign.Mapping
	in.lead.Reset(mapping.Slots())
	if in.promise.auction == nil {
		in.faults = mapping.Fill(&in.lead, in.req.Members, in.faults)
	} else {
		in.fillEarlier(mapping)
		in.faults = mapping.FillPost(&in.lead, in.req.Members, &in.promise.earlier, in.faults)
		in.matchPing(mapping.ArrivalName(market.SlotState), mapping.ArrivalName(market.SlotZip))
	}
	in.faults = in.lead.CheckConsent(in.open.Campaign, in.faults, "consent_cert_url")
}

// takeUp sells the lead to the buyer that its supplier chose, at the bid that
// this one gave. A bid that was used, or that nobody stands by any more, leaves
// the lead unmatched.
func (in *ingest) takeUp() (Answer, error) {
	code, reason, err := in.redeem()
	if errors.Is(err, errCeiling) {
		reason, err = market.ReasonTimeout, nil
	}
	switch {
	case err != nil:
		return Answer{}, err
	case code != "":
		reason = market.ReasonBidExpired
	}
	if reason != market.ReasonNone {
		return in.unmatched(reason)
	}
	return in.sellPromised()
}
