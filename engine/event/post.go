package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// Post is the intent to send a lead to a buyer's endpoint: all that a restart
// needs to send it again. The body is the contact part's (see Contact); every
// try sends those very bytes.
type Post struct {
	URL        string // empty: the lead is recorded alone
	Credential string // name of the secret; the secret itself is never in an intent
	Header     string
	Scheme     string
	Timeout    int64 // of one attempt, nanoseconds
	Idempotent bool  // whether a later 4xx may be read as a refusal

	// Where the secret is changed for tokens; all empty where it is presented
	// itself.
	TokenURL string
	ClientID string
	Scope    string

	Auction market.AuctionID // that the buyer was asked in; zero: it was not asked
	Dialect market.Dialect   // how the endpoint is spoken to; zero: it speaks the contract
}

// PostTo is the intent to send to an endpoint.
func PostTo(to *market.Endpoint, timeout int64, idempotent bool) Post {
	p := Post{
		URL: to.URL, Credential: to.Credential, Header: to.Header, Scheme: to.Scheme,
		Timeout: timeout, Idempotent: idempotent,
	}
	if to.OAuth != nil {
		p.TokenURL, p.ClientID, p.Scope = to.OAuth.TokenURL, to.OAuth.ClientID, to.OAuth.Scope
	}
	if to.Dialect != nil {
		p.Dialect = *to.Dialect
	}
	return p
}

// Endpoint is where the intent goes, as it was when it was logged.
func (p *Post) Endpoint() market.Endpoint {
	to := market.Endpoint{URL: p.URL, Credential: p.Credential, Header: p.Header, Scheme: p.Scheme}
	if p.TokenURL != "" {
		to.OAuth = &market.OAuthClient{TokenURL: p.TokenURL, ClientID: p.ClientID, Scope: p.Scope}
	}
	if p.Dialect != (market.Dialect{}) {
		dialect := p.Dialect
		to.Dialect = &dialect
	}
	return to
}

func (p *Post) marshal(mm message) {
	putString(mm, 1, p.URL)
	putString(mm, 2, p.Credential)
	putString(mm, 3, p.Header)
	putString(mm, 4, p.Scheme)
	putSint(mm, 5, p.Timeout)
	putBool(mm, 6, p.Idempotent)
	putString(mm, 7, p.TokenURL)
	putString(mm, 8, p.ClientID)
	putString(mm, 9, p.Scope)
	putID(mm, 10, p.Auction)
	if p.Dialect != (market.Dialect{}) {
		putDialect(mm.AppendMessage(11), &p.Dialect)
	}
}

func (p *Post) field(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getString(fc, &p.URL)
	case 2:
		return getString(fc, &p.Credential)
	case 3:
		return getString(fc, &p.Header)
	case 4:
		return getString(fc, &p.Scheme)
	case 5:
		return getSint(fc, &p.Timeout)
	case 6:
		return getBool(fc, &p.Idempotent)
	case 7:
		return getString(fc, &p.TokenURL)
	case 8:
		return getString(fc, &p.ClientID)
	case 9:
		return getString(fc, &p.Scope)
	case 10:
		return getID(fc, (*[16]byte)(&p.Auction))
	case 11:
		return getDialect(fc, &p.Dialect)
	}
	return true
}

// PostTried notes an attempt after which the next one follows: its result is not
// known, or it certainly reached nobody and the buyer was promised. Its number and
// time let a restart go on with the schedule where it stood.
type PostTried struct {
	Lead    market.LeadID
	Attempt uint32 // from 1
	At      int64  // when it ended, Unix nanoseconds
	Status  uint32 // HTTP status, zero where none came
	Fault   market.Fault
}

func (*PostTried) Kind() Kind { return KindPostTried }
func (t *PostTried) reset()   { *t = PostTried{} }

func (t *PostTried) marshal(mm message) {
	putID(mm, 1, t.Lead)
	putUint(mm, 2, uint64(t.Attempt))
	putFixed(mm, 3, uint64(t.At))
	putUint(mm, 4, uint64(t.Status))
	putUint(mm, 5, uint64(t.Fault))
}

func (t *PostTried) field(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getID(fc, (*[16]byte)(&t.Lead))
	case 2:
		return getUint32(fc, &t.Attempt)
	case 3:
		return getFixed(fc, &t.At)
	case 4:
		return getUint32(fc, &t.Status)
	case 5:
		return getByte(fc, &t.Fault)
	}
	return true
}

// Settlement is what an open intent came to. Numbers are in the log.
type Settlement uint8

const (
	SettledDelivered Settlement = 1 // the buyer took it
	SettledRefused   Settlement = 2 // the buyer certainly has it not; Next or Reason says how it goes on
	SettledPending   Settlement = 3 // not settled when the answer was due; the tries go on
	SettledUnknown   Settlement = 4 // the tries are used up; the hold stays, an operator decides
	SettledConfirmed Settlement = 5 // an operator: the buyer has it
	SettledReleased  Settlement = 6 // an operator: the buyer has it not
	SettledResent    Settlement = 7 // an operator: try again
)

func (s Settlement) String() string {
	names := [...]string{"", "delivered", "refused", "pending", "unknown", "confirmed", "released", "resent"}
	if int(s) >= len(names) {
		return "invalid"
	}
	return names[s]
}

// Ends tells whether the intent is closed by it: what became of the lead at this
// buyer is known.
func (s Settlement) Ends() bool {
	switch s {
	case SettledDelivered, SettledRefused, SettledConfirmed, SettledReleased:
		return true
	}
	return false
}

// PostSettled ends an open intent, or changes how it stands. After a refusal
// inside the ceiling it carries the next intent in the same frame, so that a
// lead is never between two buyers.
type PostSettled struct {
	Lead       market.LeadID
	Campaign   market.Ref
	Settlement Settlement
	Sale       Sale // as in the intent
	BuyerLead  string
	Code       string // the buyer's own word for a refusal
	Status     uint32 // HTTP status, zero where none came
	Attempts   uint32
	Elapsed    int64 // of the last attempt, nanoseconds

	Reason market.Reason // of a refusal that ends the matter
	Trail  []Step
	Next   Sale // of a refusal that does not
	Post   Post
	Sealed []byte // Contact of the next intent: its body alone, under the key of Slot

	Hook     market.HookType // that this owes the supplier; none: none
	Supplier market.Ref      // of the lead
	Decided  int64           // when the lead was, Unix nanoseconds: the month in which it counts as sold
	Fault    market.Fault    // of the last attempt; of SettledPending a timeout where that is still under way
	Slot     uint64          // the lead's own, where Sealed has something; zero: Sealed lies open
	By       string          // the operator who asked for it; empty: nobody did, or an earlier program wrote it
}

func (*PostSettled) Kind() Kind { return KindPostSettled }

func (s *PostSettled) reset() {
	sale, next, trail := s.Sale, s.Next, s.Trail[:0]
	sale.Reset()
	next.Reset()
	*s = PostSettled{Sale: sale, Next: next, Trail: trail}
}

func (s *PostSettled) marshal(mm message) {
	putID(mm, 1, s.Lead)
	putUint(mm, 2, uint64(s.Settlement))
	s.Sale.marshal(mm.AppendMessage(3))
	putString(mm, 4, s.BuyerLead)
	putString(mm, 5, s.Code)
	putUint(mm, 6, uint64(s.Status))
	putUint(mm, 7, uint64(s.Attempts))
	putSint(mm, 8, s.Elapsed)
	putUint(mm, 9, uint64(s.Reason))
	putTrail(mm, 10, s.Trail)
	if s.Next.Buyer != 0 {
		s.Next.marshal(mm.AppendMessage(11))
		s.Post.marshal(mm.AppendMessage(12))
	}
	putBytes(mm, 13, s.Sealed)
	putUint(mm, 14, uint64(s.Campaign))
	putUint(mm, 15, uint64(s.Hook))
	putUint(mm, 16, uint64(s.Supplier))
	putFixed(mm, 17, uint64(s.Decided))
	putUint(mm, 18, uint64(s.Fault))
	putUint(mm, 19, s.Slot)
	putString(mm, 20, s.By)
}

func (s *PostSettled) field(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getID(fc, (*[16]byte)(&s.Lead))
	case 2:
		return getByte(fc, &s.Settlement)
	case 3:
		return getMessage(fc, s.Sale.field)
	case 4:
		return getString(fc, &s.BuyerLead)
	case 5:
		return getString(fc, &s.Code)
	case 6:
		return getUint32(fc, &s.Status)
	case 7:
		return getUint32(fc, &s.Attempts)
	case 8:
		return getSint(fc, &s.Elapsed)
	case 9:
		return getByte(fc, &s.Reason)
	case 10:
		return getStep(fc, &s.Trail)
	case 11:
		return getMessage(fc, s.Next.field)
	case 12:
		return getMessage(fc, s.Post.field)
	case 13:
		return getBytes(fc, &s.Sealed)
	case 14:
		return getRef(fc, &s.Campaign)
	case 15:
		return getByte(fc, &s.Hook)
	case 16:
		return getRef(fc, &s.Supplier)
	case 17:
		return getFixed(fc, &s.Decided)
	case 18:
		return getByte(fc, &s.Fault)
	case 19:
		return getUint(fc, &s.Slot)
	case 20:
		return getString(fc, &s.By)
	}
	return true
}
