package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// PostIntent is the intent to send a lead to a buyer's endpoint, with everything that a restart
// needs to send it again. The contact part holds the body (see Contact); every attempt
// sends the same bytes.
type PostIntent struct {
	URL        string // empty: the lead is only recorded
	Credential string // name of the secret; the secret itself is never in an intent
	Header     string
	Scheme     string
	Timeout    int64 // of one attempt, nanoseconds
	Repeatable bool  // a post that may have arrived can be sent again

	// The endpoint that exchanges the secret for tokens; all empty if the secret
	// itself is sent.
	TokenURL string
	ClientID string
	Scope    string

	Auction market.AuctionID // in which the buyer was pinged; zero: none
	Dialect market.Dialect   // the endpoint's dialect; zero: it implements the contract

	// Trusted: the buyer certifies that it answers a repeat under the same key as it
	// answered the first send, so a refusal of a repeat is a refusal of the lead. Logs
	// of earlier programs do not have the field. There a refused repeat leaves the lead
	// with the buyer.
	Trusted bool
}

// NewPostIntent returns the intent to send to an endpoint.
func NewPostIntent(endpoint *market.Endpoint, timeout int64) PostIntent {
	p := PostIntent{
		URL: endpoint.URL, Credential: endpoint.Credential, Header: endpoint.Header, Scheme: endpoint.Scheme,
		Timeout: timeout, Repeatable: endpoint.IsRepeatable(), Trusted: endpoint.IsRepeatRefusalFinal(),
	}
	if endpoint.OAuth != nil {
		p.TokenURL, p.ClientID, p.Scope = endpoint.OAuth.TokenURL, endpoint.OAuth.ClientID, endpoint.OAuth.Scope
	}
	if endpoint.Dialect != nil {
		p.Dialect = *endpoint.Dialect
	}
	return p
}

// Endpoint returns the target of the intent, as it was when the intent was logged.
func (p *PostIntent) Endpoint() market.Endpoint {
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

func (p *PostIntent) marshal(mm openMessage) {
	putString(mm, 1, p.URL)
	putString(mm, 2, p.Credential)
	putString(mm, 3, p.Header)
	putString(mm, 4, p.Scheme)
	putSint(mm, 5, p.Timeout)
	putBool(mm, 6, p.Repeatable)
	putString(mm, 7, p.TokenURL)
	putString(mm, 8, p.ClientID)
	putString(mm, 9, p.Scope)
	putID(mm, 10, p.Auction)
	if p.Dialect != (market.Dialect{}) {
		appendDialect(mm.AppendMessage(11), &p.Dialect)
	}
	putBool(mm, 12, p.Trusted)
}

func (p *PostIntent) decodeField(fc *easyproto.FieldContext) bool {
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
		return getBool(fc, &p.Repeatable)
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
	case 12:
		return getBool(fc, &p.Trusted)
	}
	return true
}

// PostAttempted records an attempt after which another one follows. Its number and time let a
// restart continue the schedule.
type PostAttempted struct {
	Lead         market.LeadID
	Attempt      uint32 // step of the retry schedule, from 1
	At           int64  // end of the attempt, Unix nanoseconds
	Status       uint32 // HTTP status; zero: no answer
	Fault        market.Fault
	Verdict      market.PostVerdict // zero: an earlier program wrote the event
	Code         string             // the buyer's reason for a refusal
	KeepsAttempt bool               // the attempt does not count: the next attempt has the same number
}

func (*PostAttempted) Kind() Kind { return KindPostAttempted }
func (t *PostAttempted) reset()   { *t = PostAttempted{} }

func (t *PostAttempted) marshal(mm openMessage) {
	putID(mm, 1, t.Lead)
	putUint(mm, 2, uint64(t.Attempt))
	putFixed(mm, 3, uint64(t.At))
	putUint(mm, 4, uint64(t.Status))
	putUint(mm, 5, uint64(t.Fault))
	putUint(mm, 6, uint64(t.Verdict))
	putString(mm, 7, t.Code)
	putBool(mm, 8, t.KeepsAttempt)
}

func (t *PostAttempted) decodeField(fc *easyproto.FieldContext) bool {
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
	case 6:
		return getByte(fc, &t.Verdict)
	case 7:
		return getString(fc, &t.Code)
	case 8:
		return getBool(fc, &t.KeepsAttempt)
	}
	return true
}

// PostSettlement is the result of an open post. Numbers are in the log. Package market has the
// table that relates it to the other results.
type PostSettlement uint8

const (
	SettledDelivered PostSettlement = 1 // the buyer has the lead
	SettledRefused   PostSettlement = 2 // the buyer does not have the lead; Next or Reason tells the continuation
	SettledPending   PostSettlement = 3 // no result when the supplier's answer was due; attempts continue
	SettledUnknown   PostSettlement = 4 // the attempts are used up; the reservation stays, an operator decides
	SettledConfirmed PostSettlement = 5 // operator: the buyer has the lead
	SettledReleased  PostSettlement = 6 // operator: the buyer does not have the lead
	SettledResent    PostSettlement = 7 // operator: send again
)

func (s PostSettlement) String() string {
	names := [...]string{"", "delivered", "refused", "pending", "unknown", "confirmed", "released", "resent"}
	if int(s) >= len(names) {
		return "invalid"
	}
	return names[s]
}

// EndsPost reports whether the settlement closes the post: whether this buyer has the lead is
// then known.
func (s PostSettlement) EndsPost() bool {
	switch s {
	case SettledDelivered, SettledRefused, SettledConfirmed, SettledReleased:
		return true
	}
	return false
}

// PostSettled ends an open post or changes its state. After a refusal within the time
// limit it carries the next post in the same frame, so that a lead is never between two
// buyers.
type PostSettled struct {
	Lead       market.LeadID
	Campaign   market.Ref
	Settlement PostSettlement
	Sale       Sale // as in the intent
	BuyerLead  string
	Code       string // the buyer's reason for a refusal
	Status     uint32 // HTTP status; zero: no answer
	Attempts   uint32
	Elapsed    int64 // of the last attempt, nanoseconds

	Reason market.Reason // of a refusal without a next buyer
	Trail  []OutcomeFilterSets
	Next   Sale // of a refusal with a next buyer
	Post   PostIntent
	Sealed []byte // Contact with the body of the next post, under the key of Slot

	Webhook  market.WebhookType // that this event causes, or WebhookNone
	Supplier market.Ref         // of the lead
	Decided  int64              // time of the lead's decision, Unix nanoseconds: the month in which it counts as sold
	Fault    market.Fault       // of the last attempt; of SettledPending a timeout if an attempt is still running
	Slot     uint64             // the lead's own, if Sealed is not empty; zero: Sealed is plaintext
	By       string             // requesting operator; empty: no operator, or an earlier program wrote the event
}

func (*PostSettled) Kind() Kind { return KindPostSettled }

func (s *PostSettled) reset() {
	sale, next, trail := s.Sale, s.Next, s.Trail[:0]
	sale.ResetKeepingCapacity()
	next.ResetKeepingCapacity()
	*s = PostSettled{Sale: sale, Next: next, Trail: trail}
}

func (s *PostSettled) marshal(mm openMessage) {
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
	putUint(mm, 15, uint64(s.Webhook))
	putUint(mm, 16, uint64(s.Supplier))
	putFixed(mm, 17, uint64(s.Decided))
	putUint(mm, 18, uint64(s.Fault))
	putUint(mm, 19, s.Slot)
	putString(mm, 20, s.By)
}

func (s *PostSettled) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getID(fc, (*[16]byte)(&s.Lead))
	case 2:
		return getByte(fc, &s.Settlement)
	case 3:
		return getMessage(fc, s.Sale.decodeField)
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
		return getTrailStep(fc, &s.Trail)
	case 11:
		return getMessage(fc, s.Next.decodeField)
	case 12:
		return getMessage(fc, s.Post.decodeField)
	case 13:
		return getBytes(fc, &s.Sealed)
	case 14:
		return getRef(fc, &s.Campaign)
	case 15:
		return getByte(fc, &s.Webhook)
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
