package engine

import (
	"bytes"
	"strconv"
	"sync"
	"unicode"
	"unicode/utf8"

	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/format"
)

// maxSellerID limits a seller's own id of a lead, in characters.
const maxSellerID = 255

// standardMapping has the standard fields only. It checks a post whose auction is unknown,
// so that the seller still gets all faults.
var standardMapping = sync.OnceValue(func() *market.Mapping {
	mapping, mistakes := market.NewMapping(market.MappingSpec{})
	if len(mistakes) > 0 {
		panic("BUG: the mapping of the standard fields is invalid: " + mistakes[0].Error())
	}
	return mapping
})

// checkPost maps the lead. It returns a *Refusal with all faults at once.
func (in *ingest) checkPost() error {
	req := in.accepted.post
	switch {
	case req.BadKey:
		in.addFault("Idempotency-Key", errcode.FieldInvalidFormat, "1 to 255 visible ASCII characters")
	case len(req.Key) == 0:
		in.addFault("Idempotency-Key", errcode.FieldMissingRequired, "1 to 255 visible ASCII characters")
	}
	if req.BadTest {
		in.addFault(headerTest, errcode.FieldInvalidFormat, expectedTest)
	}
	in.requireText("auction_id", &req.Auction, "the auction_id of your ping")
	in.requireText("bid_token", &req.Token, "the bid_token that your ping was answered with")
	in.faults = append(in.faults, req.Faults...)
	in.checkSellerID(&req.LeadUUID)
	in.fillPost(lastOfEachName(req.Lead))
	if len(in.faults) > 0 {
		return in.refusal(InvalidPayload)
	}
	return nil
}

// fillPost maps the lead of a post. Missing fields come from the ping.
func (in *ingest) fillPost(members []market.Member) {
	mapping := standardMapping()
	if in.live != nil {
		mapping = in.live.Campaign.Mapping
	}
	first := len(in.faults)
	in.fillFromPing(mapping)
	in.lead.Reset(mapping.SlotCount())
	faults := mapping.FillFromPost(&in.lead, members, &in.accepted.pingLead, in.faults[first:len(in.faults):len(in.faults)])
	faults = mapping.RequireFields(&in.lead, faults, market.SlotFirstName, market.SlotLastName, market.SlotEmail, market.SlotPhone)
	for i := range faults {
		faults[i].Field = market.PostPath(faults[i].Field)
	}
	if in.live != nil {
		faults = in.lead.CheckConsent(in.live.Campaign, faults, "lead.tcpa.consent_cert_url")
	}
	in.faults = append(in.faults, faults...)
	in.checkAgainstPing("lead.address.state", "lead.address.zip")
}

// requireText returns the text of a required string member, or adds a fault.
func (in *ingest) requireText(path string, m *market.Member, expected string) (text []byte) {
	switch {
	case m.IsMissing():
		in.addFault(path, errcode.FieldMissingRequired, expected)
	case m.Kind == market.JSONString:
		return m.Text
	default:
		in.addFault(path, errcode.FieldWrongType, expected)
	}
	return nil
}

func (in *ingest) checkSellerID(m *market.Member) {
	const expected = "your own id of the lead, of at most 255 printable characters"
	text := in.requireText("lead.lead_uuid", m, expected)
	switch {
	case text == nil:
	case utf8.RuneCount(text) > maxSellerID:
		in.addFault("lead.lead_uuid", errcode.FieldTooLong, expected)
	case !isPrintable(text):
		in.addFault("lead.lead_uuid", errcode.FieldInvalidFormat, expected)
	default:
		in.accepted.sellerID = text
	}
}

func isPrintable(text []byte) bool {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
		text = text[size:]
	}
	return true
}

// lastOfEachName removes members whose name appears again later. For example, a city in
// address replaces one in lead. So each name goes to the buyer once.
func lastOfEachName(members []market.Member) []market.Member {
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

// fillFromPing fills pingLead with the ping's fields, by the campaign's present mapping. It
// omits a field whose type has changed since, because the sale follows the present
// configuration, except for the price.
func (in *ingest) fillFromPing(mapping *market.Mapping) {
	earlier := &in.accepted.pingLead
	earlier.Reset(mapping.SlotCount())
	if in.accepted.auction == nil {
		return
	}
	slots := make(map[string]market.Slot, mapping.SlotCount())
	for slot := range earlier.Values {
		slots[mapping.LogName(market.Slot(slot))] = market.Slot(slot)
		slots[mapping.ArrivalName(market.Slot(slot))] = market.Slot(slot) // the name in old logs
	}
	for i := range in.accepted.auction.fields {
		field := &in.accepted.auction.fields[i]
		if slot, ok := slots[field.Name]; ok {
			earlier.Values[slot] = valueOf(field, mapping.TypeOf(slot))
		}
	}
}

// valueOf returns a recorded field's value, or the absent value if the type does not fit.
func valueOf(field *event.Field, as market.FieldType) market.Value {
	form := market.KindString
	switch as {
	case market.TypeInteger:
		form = market.KindInteger
	case market.TypeNumber:
		form = market.KindNumber
	case market.TypeBoolean:
		form = market.KindBoolean
	}
	if field.Kind != form {
		return market.Value{}
	}
	value := market.Value{Kind: form, Text: field.Text}
	if form == market.KindInteger || form == market.KindNumber {
		var err error
		if value.Num, err = strconv.ParseFloat(string(field.Text), 64); err != nil {
			return market.Value{}
		}
	}
	return value
}

// checkAgainstPing adds a fault if the lead's state or ZIP code differs from the ping's,
// because the buyers bid for that place.
func (in *ingest) checkAgainstPing(statePath, zipPath string) {
	then, now := in.accepted.pingLead.Values, in.lead.Values
	if differ(then[market.SlotState], now[market.SlotState], nil) {
		in.addFault(statePath, errcode.FieldPingMismatch, "the state of the ping")
	}
	if differ(then[market.SlotZip], now[market.SlotZip], format.ZIPPrefix3) {
		in.addFault(zipPath, errcode.FieldPingMismatch, "a ZIP code that begins as the ping's zip3")
	}
}

// differ reports whether both values are present and differ. If part is not nil, it
// compares only the part that this function returns.
func differ(a, b market.Value, part func([]byte) []byte) bool {
	if a.Kind == market.KindAbsent || b.Kind == market.KindAbsent {
		return false
	}
	if part != nil {
		return !bytes.Equal(part(a.Text), part(b.Text))
	}
	return !bytes.Equal(a.Text, b.Text)
}
