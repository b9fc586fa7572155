package engine

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"pingpost/api/errcode"
	"pingpost/engine/market"
)

// maxSellerID is how many characters a seller's own id of a lead may have.
const maxSellerID = 255

// bare is the mapping of a campaign without fields of its own: what a post is
// held against whose auction is not known, so that it hears of its faults all the
// same.
var bare = sync.OnceValue(func() *market.Mapping {
	mapping, mistakes := market.NewMapping(market.MappingSpec{})
	if len(mistakes) > 0 {
		panic("BUG: no fields are too many for a mapping: " + mistakes[0].Error())
	}
	return mapping
})

// checkPost maps the lead, or says all that is wrong with the request.
func (in *ingest) checkPost() error {
	req := in.promise.post
	switch {
	case req.BadKey:
		in.fault("Idempotency-Key", errcode.FieldInvalidFormat, "1 to 255 visible ASCII characters")
	case len(req.Key) == 0:
		in.fault("Idempotency-Key", errcode.FieldMissingRequired, "1 to 255 visible ASCII characters")
	}
	if req.BadTest {
		in.fault(headerTest, errcode.FieldInvalidFormat, expectedTest)
	}
	in.wantText("auction_id", &req.Auction, "the auction_id of your ping")
	in.wantText("bid_token", &req.Token, "the bid_token that your ping was answered with")
	in.faults = append(in.faults, req.Faults...)
	in.checkSellerID(&req.LeadUUID)
	in.fillPost(laidFlat(req.Lead))
	if len(in.faults) > 0 {
		return in.refuse(InvalidPayload)
	}
	return nil
}

// fillPost reads the lead of a post, and what it leaves out from its ping.
func (in *ingest) fillPost(members []market.Member) {
	mapping := bare()
	if in.open != nil {
		mapping = in.open.Campaign.Mapping
	}
	first := len(in.faults)
	in.fillEarlier(mapping)
	in.lead.Reset(mapping.Slots())
	faults := mapping.FillPost(&in.lead, members, &in.promise.earlier, in.faults[first:len(in.faults):len(in.faults)])
	faults = mapping.Require(&in.lead, faults, market.SlotFirstName, market.SlotLastName, market.SlotEmail, market.SlotPhone)
	for i := range faults {
		faults[i].Field = market.PostPath(faults[i].Field)
	}
	if in.open != nil {
		faults = in.lead.CheckConsent(in.open.Campaign, faults, "lead.tcpa.consent_cert_url")
	}
	in.faults = append(in.faults, faults...)
	in.matchPing("lead.address.state", "lead.address.zip")
}

// wantText reports a member that is not there, or is no string.
func (in *ingest) wantText(path string, m *market.Member, expected string) (text []byte) {
	switch {
	case m.IsMissing():
		in.fault(path, errcode.FieldMissingRequired, expected)
	case m.Kind == market.JSONString:
		return m.Text
	default:
		in.fault(path, errcode.FieldWrongType, expected)
	}
	return nil
}

func (in *ingest) checkSellerID(m *market.Member) {
	const expected = "your own id of the lead, of at most 255 printable characters"
	text := in.wantText("lead.lead_uuid", m, expected)
	switch {
	case text == nil:
	case utf8.RuneCount(text) > maxSellerID:
		in.fault("lead.lead_uuid", errcode.FieldTooLong, expected)
	case !printable(text):
		in.fault("lead.lead_uuid", errcode.FieldInvalidFormat, expected)
	default:
		in.promise.seller = text
	}
}

func printable(text []byte) bool {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
		text = text[size:]
	}
	return true
}

// laidFlat leaves out every member that a later one has the name of: of a city in
// lead and one in its address, the address's counts. Each name goes to the buyer
// once.
func laidFlat(members []market.Member) []market.Member {
	last := make(map[string]int, len(members))
	for i := range members {
		last[string(members[i].Name)] = i
	}
	if len(last) == len(members) {
		return members
	}
	flat := make([]market.Member, 0, len(last))
	for i := range members {
		if last[string(members[i].Name)] == i {
			flat = append(flat, members[i])
		}
	}
	return flat
}
