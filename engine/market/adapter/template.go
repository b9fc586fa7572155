package adapter

import (
	"time"

	"pingpost/engine/market"
	"pingpost/engine/market/format"
)

// Template writes the bodies of pings or posts for one buyer endpoint that does not implement the
// buyer contract. The operator writes it; NewPingTemplate and NewPostTemplate compile it. It is
// immutable and safe for concurrent use.
//
// A template is text with actions in {{ }}, in a bounded part of the grammar of text/template:
// insertions, if, else and comments. There are no loops, variables or nested templates, so a body
// is at most as long as the template and the values that it names.
//
//	.state            a field of the campaign, by its name for buyers
//	field "my field"  the same, for a name that is not an identifier
//	.zip3             the first three digits of the zip
//	auction           a request value: see requestValues
//	.phone | national a function (see functions); the value before | is its
//	                  last argument
//	secret "key"      a secret of the buyer: the body has a placeholder for it
//
// Invariants:
//
//   - A lead's values cannot change the structure of a body. At compile time each insertion gets
//     the escaping rule of its place in the JSON, XML or form. A place without such a rule (a
//     tag's name, a comment, the middle of an escape) is rejected. A value cannot be written
//     unescaped, or escaped twice.
//   - A ping has only the contract's fields: those that are marked ping and are not contact
//     fields, and the first three digits of the zip. Check rejects templates that name others,
//     and bodyData.fieldValueForBuyer returns no value for them.
//   - Functions see text and numbers, never the mapping or the lead.
//
// Rejected: execution by text/template. It reaches methods and fields by reflection, writes <no
// value>, and needs a rewritten pipeline to know the escaping of each place. Here its parser's
// tree is compiled once into pieces that append. Rejected, too: escaping functions for operators,
// because with one forgotten call a lead changes the body.
type Template struct {
	kind   requestBodyKind
	format string
	pieces []templatePiece
	uses   []fieldUse
}

// requestBodyKind says whether a template writes pings or posts.
type requestBodyKind uint8

const (
	pingBody requestBodyKind = 1
	postBody requestBodyKind = 2
)

// fieldUse is one place in a template that names a field, with the constants that the field is
// compared with there. Check uses both.
type fieldUse struct {
	name         string
	line         int
	comparedWith []market.FieldValue // constants in comparisons with the field
}

// MaxBody is the maximum size in bytes of a body that a template writes.
const MaxBody = 128 << 10

// AppendPing appends the body of a ping for the lead l, which the mapping m has filled. If the
// body would exceed MaxBody, it returns dst unchanged and false.
func (t *Template) AppendPing(dst []byte, m *market.FieldMapping, l *market.Lead, metadata market.BuyerPingMetadata) (body []byte, withinLimit bool) {
	if t.kind != pingBody {
		panic("BUG: AppendPing of a template for posts")
	}
	return t.appendBody(dst, bodyData{mapping: m, lead: l, ping: &metadata})
}

// AppendPost appends the body of a post for the lead l, which the mapping m has filled. If the
// body would exceed MaxBody, it returns dst unchanged and false.
func (t *Template) AppendPost(dst []byte, m *market.FieldMapping, l *market.Lead, metadata market.BuyerPostMetadata) (body []byte, withinLimit bool) {
	if t.kind != postBody {
		panic("BUG: AppendPost of a template for pings")
	}
	return t.appendBody(dst, bodyData{mapping: m, lead: l, post: &metadata})
}

// appendBody appends the body for the values in data. It returns dst unchanged and false above
// MaxBody.
func (t *Template) appendBody(dst []byte, data bodyData) (body []byte, withinLimit bool) {
	w := bodyWriter{data: data, dst: dst, limit: len(dst) + MaxBody}
	w.writePieces(t.pieces)
	if w.exceeded {
		return dst, false
	}
	return w.dst, true
}

// bodyData is the data for one body: the lead, and the metadata of a ping or of a post.
// Exactly one of ping and post is set.
type bodyData struct {
	mapping *market.FieldMapping
	lead    *market.Lead
	ping    *market.BuyerPingMetadata
	post    *market.BuyerPostMetadata
	sample  bool // for Check: write each secret as text that needs every escape
}

// fieldValueForBuyer returns the value of a field by its name for buyers. In a ping, it returns an
// absent value for a field that only a post may have. Check has rejected templates of pings with such
// fields; this is a second check.
func (v *bodyData) fieldValueForBuyer(fieldName string) market.FieldValue {
	if fieldName == "zip3" {
		return market.TextValueOrAbsent(format.ZIPPrefix3(v.lead.Values[market.SlotZip].Text))
	}
	slot, ok := v.mapping.SlotByNameForBuyers(fieldName)
	if !ok {
		return market.FieldValue{}
	}
	if v.ping == nil {
		return v.lead.Values[slot]
	}
	switch m := v.mapping; {
	case m.IsContactField(slot) || !m.IsSentInPings(slot) || slot == market.SlotZip:
		return market.FieldValue{}
	case slot == market.SlotTCPAConsent && v.lead.Values[slot].Kind == market.KindAbsent:
		return market.BoolValue(false)
	}
	return v.lead.Values[slot]
}

// requestMetadataSource is a value that a template can name and that is not a field of the lead, such as
// the price.
type requestMetadataSource struct {
	kind requestBodyKind // the bodies that have the value; zero: both
	read func(v *bodyData) market.FieldValue
}

// requestValues are the values that templates can name beside the lead's fields and the functions.
var requestValues = map[string]requestMetadataSource{
	"auction": {0, (*bodyData).auctionIDElseLeadID},
	"vertical": {0, func(v *bodyData) market.FieldValue {
		vertical, _ := v.verticalAndSubVertical()
		return market.TextValueOrAbsent([]byte(vertical))
	}},
	"sub_vertical": {0, func(v *bodyData) market.FieldValue {
		_, sub := v.verticalAndSubVertical()
		return market.TextValueOrAbsent([]byte(sub))
	}},
	"expires_at": {pingBody, func(v *bodyData) market.FieldValue {
		return market.TextValueOrAbsent(time.Unix(0, v.ping.ExpiresAt).UTC().AppendFormat(nil, market.PingTimeLayout))
	}},
	"lead_id": {postBody, func(v *bodyData) market.FieldValue { return market.TextValueOrAbsent(v.post.Lead.AppendAsText(nil)) }},
	"token":   {postBody, func(v *bodyData) market.FieldValue { return market.TextValueOrAbsent([]byte(v.post.Token)) }},
	"price": {postBody, func(v *bodyData) market.FieldValue {
		return market.FieldValue{Kind: market.KindNumber, Text: v.post.Price.AppendJSON(nil)}
	}},
	"currency": {postBody, func(v *bodyData) market.FieldValue { return market.TextValueOrAbsent([]byte(v.post.Currency.String())) }},
}

// auctionIDElseLeadID returns the auction's id as text. A post without an auction has the lead's id
// instead.
func (v *bodyData) auctionIDElseLeadID() market.FieldValue {
	switch {
	case v.ping != nil:
		return market.TextValueOrAbsent(v.ping.Auction.AppendAsText(nil))
	case v.post.Auction == market.AuctionID{}:
		return market.TextValueOrAbsent(v.post.Lead.AppendAsText(nil))
	}
	return market.TextValueOrAbsent(v.post.Auction.AppendAsText(nil))
}

// verticalAndSubVertical returns the vertical and sub-vertical.
func (v *bodyData) verticalAndSubVertical() (vertical, subVertical string) {
	if v.ping != nil {
		return v.ping.Vertical, v.ping.SubVertical
	}
	return v.post.Vertical, v.post.SubVertical
}
