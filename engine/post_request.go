package engine

import (
	"bytes"
	"crypto/subtle"
	"errors"
	"sync"
	"unicode"
	"unicode/utf8"

	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/exclusion"
	"pingpost/engine/market"
	"pingpost/engine/market/format"
	"pingpost/engine/pastauction"
	"pingpost/engine/state"
)

// maxSellerLeadIDLength limits the id that a seller gives to a lead (lead_uuid), in characters.
const maxSellerLeadIDLength = 255

// standardMapping returns a field mapping with the standard fields only. It checks a post whose
// auction is unknown, so that the seller still gets all faults at once.
var standardMapping = sync.OnceValue(func() *market.FieldMapping {
	mapping, mistakes := market.NewFieldMapping(market.FieldMappingSpec{})
	if len(mistakes) > 0 {
		panic("BUG: the mapping of the standard fields is invalid: " + mistakes[0].Error())
	}
	return mapping
})

// parsePostRequest checks the request and maps its lead to the campaign's fields. It returns a
// *Refusal with all faults at once, or nil.
func (in *ingestOrPostInput) parsePostRequest() (refusal error) {
	req := in.accepted.post
	in.faults = appendMissingKeyFault(in.faults, req.Key, req.BadKey)
	in.faults = appendMalformedHeaderFaults(in.faults, req.BadKey, req.BadTest)
	in.requireStringMember("auction_id", &req.Auction, "the auction_id of your ping")
	in.requireStringMember("bid_token", &req.Token, "the bid_token that your ping was answered with")
	in.faults = append(in.faults, req.Faults...)
	in.setSellerLeadIDOrAddFault(&req.LeadUUID)
	in.mapPostFieldsAndAddFaults(keepLastOfEachName(req.Lead))
	if len(in.faults) > 0 {
		return in.newRefusal(InvalidPayload)
	}
	in.live = in.live.selfOrWithTerms(in.req.Supplier, &in.lead)
	return nil
}

// mapPostFieldsAndAddFaults maps the members of a post's lead to the campaign's fields, and adds faults.
// Fields that the post leaves out come from the ping.
func (in *ingestOrPostInput) mapPostFieldsAndAddFaults(members []market.JSONMember) {
	mapping := standardMapping()
	if in.live != nil {
		mapping = in.live.Campaign.Mapping
	}
	first := len(in.faults)
	in.fillPingLeadFromAuction(mapping)
	in.lead.Reset(mapping.SlotCount())
	faults := mapping.FillLeadFromPost(&in.lead, members, &in.accepted.pingLead, in.faults[first:len(in.faults):len(in.faults)])
	faults = mapping.AppendMissingFieldErrors(&in.lead, faults, market.SlotFirstName, market.SlotLastName, market.SlotEmail, market.SlotPhone)
	for i := range faults {
		faults[i].Field = market.FieldPathInSupplierPost(faults[i].Field)
	}
	if in.live != nil {
		in.setDecisionTimeOfLead()
		faults = in.lead.AppendConsentCertificateError(in.live.Campaign, faults, "lead.tcpa.consent_cert_url")
	}
	in.faults = append(in.faults, faults...)
	in.addFaultIfPingDiffers("lead.address.state", "lead.address.zip", "lead.source")
}

// requireStringMember returns the text of a required member. If the member is missing or no string,
// it returns nil and adds a fault, which names faultPath and expected.
func (in *ingestOrPostInput) requireStringMember(faultPath string, m *market.JSONMember, expected string) (text []byte) {
	switch {
	case m.CountsAsMissing():
		in.addFault(faultPath, errcode.FieldMissingRequired, expected)
	case m.Kind == market.JSONString:
		return m.Text
	default:
		in.addFault(faultPath, errcode.FieldWrongType, expected)
	}
	return nil
}

func (in *ingestOrPostInput) setSellerLeadIDOrAddFault(m *market.JSONMember) {
	const expected = "your own id of the lead, of at most 255 printable characters"
	text := in.requireStringMember("lead.lead_uuid", m, expected)
	switch {
	case text == nil:
	case utf8.RuneCount(text) > maxSellerLeadIDLength:
		in.addFault("lead.lead_uuid", errcode.FieldTooLong, expected)
	case !isPrintableUnicode(text):
		in.addFault("lead.lead_uuid", errcode.FieldInvalidFormat, expected)
	default:
		in.accepted.sellerLeadID = text
	}
}

func isPrintableUnicode(text []byte) bool {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 || !unicode.IsPrint(r) { // size 1: invalid UTF-8
			return false
		}
		text = text[size:]
	}
	return true
}

// keepLastOfEachName returns the members without those whose name appears again later in the
// list. For example, the city in address replaces a city in lead. So each name goes to the buyer
// once.
func keepLastOfEachName(members []market.JSONMember) []market.JSONMember {
	last := make(map[string]int, len(members))
	for i := range members {
		last[string(members[i].Name)] = i
	}
	if len(last) == len(members) {
		return members
	}
	flat := make([]market.JSONMember, 0, len(last))
	for i := range members {
		if last[string(members[i].Name)] == i {
			flat = append(flat, members[i])
		}
	}
	return flat
}

// fillPingLeadFromAuction copies the fields of the recorded ping into pingLead, in the slots of
// the campaign's present mapping. It omits a field whose type has changed since the ping. The
// sale follows the present configuration, except for the price.
func (in *ingestOrPostInput) fillPingLeadFromAuction(mapping *market.FieldMapping) {
	earlier := &in.accepted.pingLead
	earlier.Reset(mapping.SlotCount())
	if in.accepted.auction == nil {
		return
	}
	exclusion.FillLead(earlier, mapping, in.accepted.auction.Fields)
}

// addFaultIfPingDiffers adds a fault if the lead's state or ZIP code contradicts the ping's, because the
// buyer made its bid for those. It also adds one if the lead's source has other terms than the ping's. The ping
// decides the payout, so a supplier could otherwise ping with the source that pays best, and post with another.
func (in *ingestOrPostInput) addFaultIfPingDiffers(statePath, zipPath, sourcePath string) {
	then, now := in.accepted.pingLead.Values, in.lead.Values
	if areBothPresentAndDiffer(then[market.SlotState], now[market.SlotState], nil) {
		in.addFault(statePath, errcode.FieldPingMismatch, "the state of the ping")
	}
	if areBothPresentAndDiffer(then[market.SlotZip], now[market.SlotZip], format.ZIPPrefix3) {
		in.addFault(zipPath, errcode.FieldPingMismatch, "a ZIP code that begins as the ping's zip3")
	}
	if in.live == nil || in.accepted.auction == nil || len(in.live.withTerms) == 0 {
		return
	}
	if terms := in.live.Campaign; terms.IndexOfTerms(in.req.Supplier.ID, &in.accepted.pingLead) != terms.IndexOfTerms(in.req.Supplier.ID, &in.lead) {
		in.addFault(sourcePath, errcode.FieldPingMismatch, "the source of the ping")
	}
}

// areBothPresentAndDiffer reports whether both values are present and differ. If partToCompare is given,
// it compares only that part of each text, for example the ZIP code's first three digits.
func areBothPresentAndDiffer(first, second market.FieldValue, partToCompare func([]byte) []byte) bool {
	if first.Kind == market.KindAbsent || second.Kind == market.KindAbsent {
		return false
	}
	if partToCompare != nil {
		return !bytes.Equal(partToCompare(first.Text), partToCompare(second.Text))
	}
	return !bytes.Equal(first.Text, second.Text)
}

// setAuctionAndBidOfPostIfFound finds the auction that a post names by the seller's auction id, and its
// campaign. It sets the accepted bid if the post's token is the one of that auction's winner.
// Without a match it returns nil, and validation or runSupplierPost rejects the post. An error is that of
// reading the auction.
func (in *ingestOrPostInput) setAuctionAndBidOfPostIfFound() error {
	e, p := in.engine, &in.accepted
	if p.post.Auction.Kind != market.JSONString {
		return nil
	}
	row, ok := e.state.FindAuction(e.computeAuctionName(pastauction.BySellerID.ForTest(in.test), in.req.Supplier, p.post.Auction.Text), in.now)
	if !ok {
		return nil
	}
	if err := in.readAuctionAndAdvanceTime(&row); err != nil || p.forgotten {
		return err
	}
	in.live = in.liveCampaignOfAuction()
	token, ok := market.ParseExchangeBidToken(string(p.post.Token.Text))
	if ok && p.post.Token.Kind == market.JSONString && subtle.ConstantTimeCompare(token[:], p.auction.Token[:]) == 1 {
		p.bid = p.auction.WinningBid()
	}
	return nil
}

// readAuctionAndAdvanceTime reads the auction of the accepted bid from the cache or the log. A bid
// can expire during the read, so the function moves in.now to the present. If the log's history
// no longer has the auction, it sets forgotten and returns nil.
func (in *ingestOrPostInput) readAuctionAndAdvanceTime(row *state.AuctionRow) (err error) {
	p := &in.accepted
	p.auction, err = in.engine.readAuctionFromCacheOrLog(row, in.answerDueNanos())
	if errors.Is(err, ErrGone) {
		p.forgotten, p.soldLead, err = true, row.Lead, nil
	}
	in.now = max(in.now, in.engine.opt.Clock.Now())
	return err
}

// liveCampaignOfAuction returns the campaign of the accepted bid's auction, in its present
// configuration. It returns nil if the campaign was removed.
func (in *ingestOrPostInput) liveCampaignOfAuction() *compiledCampaign {
	id := in.engine.state.NameOf(event.ObjectCampaign, in.accepted.auction.Campaign)
	return in.plan.findCampaignOrItsTestCampaign(market.CampaignID(id), in.test)
}
