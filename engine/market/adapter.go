package market

import "time"

// Adapter writes the bodies of one endpoint that does not speak the contract,
// from a template of its operator. There is one for pings and one for posts,
// each made by NewAdapter; it never changes, and any number of goroutines may
// write by it at once.
//
// A template is text with actions in {{ }}, in the grammar of text/template, of
// which it keeps what cannot run away: insertions, if, else and comments. There
// are no loops, no variables, no templates inside templates, so a body is at
// most as long as the template and the values that it names.
//
//	.state            a field of the campaign, by its name for buyers
//	field "my field"  the same, where the name is no identifier
//	.zip3             the first three digits of the zip
//	auction           what is said beside the lead: see headWords
//	.phone | national a function (see functions); what comes before a | is its
//	                  last argument
//
// What must always hold:
//
//   - Nothing a lead says changes the shape of a body. Each insertion knows at
//     compile time where in the JSON, XML or form it stands, and is written by
//     the rule of that place; one in a place that has no such rule (a tag's
//     name, a comment, the middle of an escape) is refused. There is no way to
//     write a value unescaped, and none to escape it twice.
//   - A ping says nothing that the contract's ping would not: fields that are
//     marked ping and are no contact fields, the zip by three digits. Templates
//     that ask for more are refused by Check, and find nothing when they run:
//     see view.field.
//   - Functions see text and numbers, and nothing of the mapping or the lead.
//
// Rejected: text/template's own execution. It reaches methods and fields by
// reflection, writes <no value>, and would have to be told by a rewritten
// pipeline what to escape where; here the tree of its parser is compiled once
// into pieces that append. Rejected, too: escapes as functions that authors
// call, since one that is forgotten lets a lead write into the body.
type Adapter struct {
	purpose purpose
	format  string
	pieces  []piece
	uses    []fieldUse
}

// purpose is what a template's body is for.
type purpose uint8

const (
	forPing purpose = 1
	forPost purpose = 2
)

// fieldUse is one mention of a field in a template.
type fieldUse struct {
	name   string
	line   int
	others []Value // constants that it is compared with
}

// MaxAdapterBody is how many bytes a body may have that a template wrote.
const MaxAdapterBody = 128 << 10

// PostHead is what a post says beside the lead.
type PostHead struct {
	Auction     AuctionID // zero: there was none; the lead's id stands in its place
	Lead        LeadID
	Token       string // of the winning bid; empty: there was no auction
	Vertical    string
	SubVertical string
	Price       Money // what the buyer pays
	Currency    Currency
}

// AppendPing appends the body of a ping. It is not ok where the body would be
// over MaxAdapterBody; then dst is as it was. The lead was filled by the mapping.
func (a *Adapter) AppendPing(dst []byte, m *Mapping, l *Lead, head PingHead) (body []byte, ok bool) {
	if a.purpose != forPing {
		panic("BUG: a ping by the template of posts")
	}
	return a.write(dst, view{mapping: m, lead: l, ping: &head})
}

// AppendPost appends the body of a post, as AppendPing does that of a ping.
func (a *Adapter) AppendPost(dst []byte, m *Mapping, l *Lead, head PostHead) (body []byte, ok bool) {
	if a.purpose != forPost {
		panic("BUG: a post by the template of pings")
	}
	return a.write(dst, view{mapping: m, lead: l, post: &head})
}

func (a *Adapter) write(dst []byte, v view) (body []byte, ok bool) {
	w := writing{view: v, dst: dst, limit: len(dst) + MaxAdapterBody}
	w.all(a.pieces)
	if w.over {
		return dst, false
	}
	return w.dst, true
}

// view is all that a template can see: exactly one of ping and post is set.
type view struct {
	mapping *Mapping
	lead    *Lead
	ping    *PingHead
	post    *PostHead
}

// field is a field's value by its name for buyers, absent where it may not be
// seen. This is the second of two doors: Check has refused the template.
func (v *view) field(name string) Value {
	if name == "zip3" {
		return textual(ZIP3(v.lead.Values[SlotZip].Text))
	}
	slot, ok := v.mapping.mapped[name]
	if !ok {
		return Value{}
	}
	if v.ping == nil {
		return v.lead.Values[slot]
	}
	switch r := &v.mapping.rules[slot]; {
	case r.contact || !r.ping || slot == SlotZip:
		return Value{}
	case slot == SlotTCPAConsent && v.lead.Values[slot].Kind == KindAbsent:
		return Value{Kind: KindBoolean, Text: textFalse}
	}
	return v.lead.Values[slot]
}

// headWord is something that is said beside the lead.
type headWord struct {
	purpose purpose // zero: of both
	of      func(v *view) Value
}

var headWords = map[string]headWord{
	"auction":      {0, (*view).auction},
	"vertical":     {0, func(v *view) Value { vertical, _ := v.line(); return textual([]byte(vertical)) }},
	"sub_vertical": {0, func(v *view) Value { _, sub := v.line(); return textual([]byte(sub)) }},
	"expires_at": {forPing, func(v *view) Value {
		return textual(time.Unix(0, v.ping.ExpiresAt).UTC().AppendFormat(nil, pingTime))
	}},
	"lead_id":  {forPost, func(v *view) Value { return textual(v.post.Lead.AppendTo(nil)) }},
	"token":    {forPost, func(v *view) Value { return textual([]byte(v.post.Token)) }},
	"price":    {forPost, func(v *view) Value { return Value{Kind: KindNumber, Text: v.post.Price.AppendJSON(nil)} }},
	"currency": {forPost, func(v *view) Value { return textual([]byte(v.post.Currency.String())) }},
}

func (v *view) auction() Value {
	switch {
	case v.ping != nil:
		return textual(v.ping.Auction.AppendTo(nil))
	case v.post.Auction == AuctionID{}:
		return textual(v.post.Lead.AppendTo(nil))
	}
	return textual(v.post.Auction.AppendTo(nil))
}

// line is the line of business.
func (v *view) line() (vertical, sub string) {
	if v.ping != nil {
		return v.ping.Vertical, v.ping.SubVertical
	}
	return v.post.Vertical, v.post.SubVertical
}

// textual is a text as a value; an empty one is absent.
func textual(text []byte) Value {
	if len(text) == 0 {
		return Value{}
	}
	return Value{Kind: KindString, Text: text}
}
