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
//     and templateData.fieldValue returns no value for them.
//   - Functions see text and numbers, never the mapping or the lead.
//
// Rejected: execution by text/template. It reaches methods and fields by reflection, writes <no
// value>, and needs a rewritten pipeline to know the escaping of each place. Here its parser's
// tree is compiled once into pieces that append. Rejected, too: escaping functions for operators,
// because with one forgotten call a lead changes the body.
type Template struct {
	kind   bodyKind
	format string
	pieces []templatePiece
	uses   []fieldUse
}

// bodyKind says whether a template writes pings or posts.
type bodyKind uint8

const (
	pingBody bodyKind = 1
	postBody bodyKind = 2
)

// fieldUse is one place in a template that names a field, with the constants that the field is
// compared with there. Check uses both.
type fieldUse struct {
	name         string
	line         int
	comparedWith []market.Value // constants in comparisons with the field
}

// MaxBody is the maximum size in bytes of a body that a template writes.
const MaxBody = 128 << 10

// AppendPing appends the body of a ping for the lead l, which the mapping m has filled. If the
// body would exceed MaxBody, it returns dst unchanged and false.
func (t *Template) AppendPing(dst []byte, m *market.Mapping, l *market.Lead, metadata market.PingMetadata) (body []byte, ok bool) {
	if t.kind != pingBody {
		panic("BUG: AppendPing of a template for posts")
	}
	return t.writeBody(dst, templateData{mapping: m, lead: l, ping: &metadata})
}

// AppendPost appends the body of a post for the lead l, which the mapping m has filled. If the
// body would exceed MaxBody, it returns dst unchanged and false.
func (t *Template) AppendPost(dst []byte, m *market.Mapping, l *market.Lead, metadata market.PostMetadata) (body []byte, ok bool) {
	if t.kind != postBody {
		panic("BUG: AppendPost of a template for pings")
	}
	return t.writeBody(dst, templateData{mapping: m, lead: l, post: &metadata})
}

// writeBody appends the body for the values in v. It returns dst unchanged and false above
// MaxBody.
func (t *Template) writeBody(dst []byte, v templateData) (body []byte, ok bool) {
	w := bodyWriter{data: v, dst: dst, limit: len(dst) + MaxBody}
	w.writePieces(t.pieces)
	if w.exceeded {
		return dst, false
	}
	return w.dst, true
}

// templateData is the data for one body: the lead, and the metadata of a ping or of a post.
// Exactly one of ping and post is set.
type templateData struct {
	mapping *market.Mapping
	lead    *market.Lead
	ping    *market.PingMetadata
	post    *market.PostMetadata
	sample  bool // for Check: write each secret as text that needs every escape
}

// fieldValue returns the value of a field by its name for buyers. It returns an absent value for
// a field that a ping must not have. Check has rejected templates with such fields; this is a
// second check.
func (v *templateData) fieldValue(name string) market.Value {
	if name == "zip3" {
		return market.TextValue(format.ZIPPrefix3(v.lead.Values[market.SlotZip].Text))
	}
	slot, ok := v.mapping.SlotByBuyerName(name)
	if !ok {
		return market.Value{}
	}
	if v.ping == nil {
		return v.lead.Values[slot]
	}
	switch m := v.mapping; {
	case m.IsContact(slot) || !m.IsInPing(slot) || slot == market.SlotZip:
		return market.Value{}
	case slot == market.SlotTCPAConsent && v.lead.Values[slot].Kind == market.KindAbsent:
		return market.BoolValue(false)
	}
	return v.lead.Values[slot]
}

// requestValue is a value that a template can name and that is not a field of the lead, such as
// the price.
type requestValue struct {
	kind bodyKind // the bodies that have the value; zero: both
	read func(v *templateData) market.Value
}

// requestValues are the values that templates can name beside the lead's fields and the
// functions.
var requestValues = map[string]requestValue{
	"auction": {0, (*templateData).auctionID},
	"vertical": {0, func(v *templateData) market.Value {
		vertical, _ := v.verticals()
		return market.TextValue([]byte(vertical))
	}},
	"sub_vertical": {0, func(v *templateData) market.Value { _, sub := v.verticals(); return market.TextValue([]byte(sub)) }},
	"expires_at": {pingBody, func(v *templateData) market.Value {
		return market.TextValue(time.Unix(0, v.ping.ExpiresAt).UTC().AppendFormat(nil, market.PingTimeLayout))
	}},
	"lead_id": {postBody, func(v *templateData) market.Value { return market.TextValue(v.post.Lead.AppendTo(nil)) }},
	"token":   {postBody, func(v *templateData) market.Value { return market.TextValue([]byte(v.post.Token)) }},
	"price": {postBody, func(v *templateData) market.Value {
		return market.Value{Kind: market.KindNumber, Text: v.post.Price.AppendJSON(nil)}
	}},
	"currency": {postBody, func(v *templateData) market.Value { return market.TextValue([]byte(v.post.Currency.String())) }},
}

// auctionID returns the auction's id as text. A post without an auction has the lead's id
// instead.
func (v *templateData) auctionID() market.Value {
	switch {
	case v.ping != nil:
		return market.TextValue(v.ping.Auction.AppendTo(nil))
	case v.post.Auction == market.AuctionID{}:
		return market.TextValue(v.post.Lead.AppendTo(nil))
	}
	return market.TextValue(v.post.Auction.AppendTo(nil))
}

// verticals returns the vertical and sub-vertical.
func (v *templateData) verticals() (vertical, sub string) {
	if v.ping != nil {
		return v.ping.Vertical, v.ping.SubVertical
	}
	return v.post.Vertical, v.post.SubVertical
}
