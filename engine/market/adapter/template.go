package adapter

import (
	"time"

	"pingpost/engine/market"
	"pingpost/engine/market/format"
)

// Template writes the bodies of one endpoint that does not speak the contract, from its
// operator's template. There is one for pings and one for posts, made by NewPing and
// NewPost. It is immutable and safe for concurrent use.
//
// A template is text with actions in {{ }}, in a bounded part of the grammar of
// text/template: insertions, if, else and comments. There are no loops, variables or
// nested templates, so a body is at most as long as the template and the values that it
// names.
//
//	.state            a field of the campaign, by its name for buyers
//	field "my field"  the same, for a name that is not an identifier
//	.zip3             the first three digits of the zip
//	auction           a value beside the lead: see headerWords
//	.phone | national a function (see functions); the value before | is its
//	                  last argument
//	secret "key"      a secret of the buyer: the body has a placeholder for it
//
// Invariants:
//
//   - A lead's values cannot change the shape of a body. Each insertion knows at
//     compile time its place in the JSON, XML or form, and follows the escaping rule
//     of that place. A place without such a rule (a tag's name, a comment, the middle
//     of an escape) is rejected. A value cannot be written unescaped, or escaped
//     twice.
//   - A ping has only the contract's fields: those that are marked ping and are not
//     contact fields, and the zip by three digits. Check rejects templates that ask
//     for more, and view.field returns no value for them.
//   - Functions see text and numbers, never the mapping or the lead.
//
// Rejected: text/template's own execution. It reaches methods and fields by reflection,
// writes <no value>, and needs a rewritten pipeline to know the escaping of each place.
// Here its parser's tree is compiled once into pieces that append. Rejected, too: escapes
// as functions for authors, because a forgotten one lets a lead write into the body.
type Template struct {
	purpose purpose
	format  string
	pieces  []piece
	uses    []fieldUse
}

// purpose is the kind of a template's body.
type purpose uint8

const (
	forPing purpose = 1
	forPost purpose = 2
)

// fieldUse is one mention of a field in a template.
type fieldUse struct {
	name         string
	line         int
	comparedWith []market.Value // constants in comparisons with the field
}

// MaxBody is the maximum size in bytes of a body from a template.
const MaxBody = 128 << 10

// AppendPing appends the body of a ping. If the body would exceed MaxBody, it returns dst
// unchanged and false. The mapping has filled the lead.
func (a *Template) AppendPing(dst []byte, m *market.Mapping, l *market.Lead, head market.PingHeader) (body []byte, ok bool) {
	if a.purpose != forPing {
		panic("BUG: AppendPing of a template for posts")
	}
	return a.write(dst, view{mapping: m, lead: l, ping: &head})
}

// AppendPost appends the body of a post, with the same results as AppendPing.
func (a *Template) AppendPost(dst []byte, m *market.Mapping, l *market.Lead, head market.PostHeader) (body []byte, ok bool) {
	if a.purpose != forPost {
		panic("BUG: AppendPost of a template for pings")
	}
	return a.write(dst, view{mapping: m, lead: l, post: &head})
}

func (a *Template) write(dst []byte, v view) (body []byte, ok bool) {
	w := bodyWriter{view: v, dst: dst, limit: len(dst) + MaxBody}
	w.writePieces(a.pieces)
	if w.exceeded {
		return dst, false
	}
	return w.dst, true
}

// view is the data of a template: exactly one of ping and post is set.
type view struct {
	mapping *market.Mapping
	lead    *market.Lead
	ping    *market.PingHeader
	post    *market.PostHeader
	sample  bool // of Check: a secret is written as text that needs every escape
}

// field returns a field's value by its name for buyers, or an absent value if the body
// must not carry it. This is the second check: Check has rejected such a template.
func (v *view) field(name string) market.Value {
	if name == "zip3" {
		return market.TextValue(format.ZIP3(v.lead.Values[market.SlotZip].Text))
	}
	slot, ok := v.mapping.SlotOf(name)
	if !ok {
		return market.Value{}
	}
	if v.ping == nil {
		return v.lead.Values[slot]
	}
	switch m := v.mapping; {
	case m.IsContact(slot) || !m.InPing(slot) || slot == market.SlotZip:
		return market.Value{}
	case slot == market.SlotTCPAConsent && v.lead.Values[slot].Kind == market.KindAbsent:
		return market.BoolValue(false)
	}
	return v.lead.Values[slot]
}

// headerWord is a value beside the lead.
type headerWord struct {
	purpose purpose // zero: both
	value   func(v *view) market.Value
}

var headerWords = map[string]headerWord{
	"auction":      {0, (*view).auction},
	"vertical":     {0, func(v *view) market.Value { vertical, _ := v.line(); return market.TextValue([]byte(vertical)) }},
	"sub_vertical": {0, func(v *view) market.Value { _, sub := v.line(); return market.TextValue([]byte(sub)) }},
	"expires_at": {forPing, func(v *view) market.Value {
		return market.TextValue(time.Unix(0, v.ping.ExpiresAt).UTC().AppendFormat(nil, market.PingTimeLayout))
	}},
	"lead_id": {forPost, func(v *view) market.Value { return market.TextValue(v.post.Lead.AppendTo(nil)) }},
	"token":   {forPost, func(v *view) market.Value { return market.TextValue([]byte(v.post.Token)) }},
	"price": {forPost, func(v *view) market.Value {
		return market.Value{Kind: market.KindNumber, Text: v.post.Price.AppendJSON(nil)}
	}},
	"currency": {forPost, func(v *view) market.Value { return market.TextValue([]byte(v.post.Currency.String())) }},
}

func (v *view) auction() market.Value {
	switch {
	case v.ping != nil:
		return market.TextValue(v.ping.Auction.AppendTo(nil))
	case v.post.Auction == market.AuctionID{}:
		return market.TextValue(v.post.Lead.AppendTo(nil))
	}
	return market.TextValue(v.post.Auction.AppendTo(nil))
}

// line returns the vertical and sub-vertical.
func (v *view) line() (vertical, sub string) {
	if v.ping != nil {
		return v.ping.Vertical, v.ping.SubVertical
	}
	return v.post.Vertical, v.post.SubVertical
}
