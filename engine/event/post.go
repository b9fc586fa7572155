package event

import (
	"pingpost/engine/market"
)

// PostIntent is the intent to post a lead to a buyer's endpoint. It holds everything that a
// restarted process needs to post again, except two parts. The body is in the encrypted
// LeadPersonalData, and Credential only names the secret. Every attempt sends the same body.
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

	Auction         market.AuctionID       // in which the buyer was pinged; zero: none
	AdapterProtocol market.AdapterProtocol // the endpoint's adapter protocol; zero: it implements the contract

	// Trusted: the buyer certifies that it answers a repeat under the same key as it
	// answered the first send, so a refusal of a repeat is a refusal of the lead. Logs
	// of earlier programs do not have the field. There a refused repeat leaves the lead
	// with the buyer.
	Trusted bool
}

// NewPostIntent returns the intent to post to the endpoint. attemptTimeoutNanos is the limit of one
// attempt in nanoseconds.
func NewPostIntent(endpoint *market.OutboundEndpoint, attemptTimeoutNanos int64) PostIntent {
	p := PostIntent{
		URL: endpoint.URL, Credential: endpoint.Credential, Header: endpoint.Header, Scheme: endpoint.Scheme,
		Timeout: attemptTimeoutNanos, Repeatable: endpoint.MayRepeatPost(), Trusted: endpoint.CountsRefusalOfRepeatedPost(),
	}
	if endpoint.OAuth != nil {
		p.TokenURL, p.ClientID, p.Scope = endpoint.OAuth.TokenURL, endpoint.OAuth.ClientID, endpoint.OAuth.Scope
	}
	if endpoint.AdapterProtocol != nil {
		p.AdapterProtocol = *endpoint.AdapterProtocol
	}
	return p
}

// Endpoint returns the endpoint to post to, as it was configured when the intent was logged. Adapter
// and Certified are not set, because the body is complete and Trusted replaces Certified.
func (p *PostIntent) Endpoint() market.OutboundEndpoint {
	to := market.OutboundEndpoint{URL: p.URL, Credential: p.Credential, Header: p.Header, Scheme: p.Scheme}
	if p.TokenURL != "" {
		to.OAuth = &market.OutboundOAuthClient{TokenURL: p.TokenURL, ClientID: p.ClientID, Scope: p.Scope}
	}
	if p.AdapterProtocol != (market.AdapterProtocol{}) {
		protocol := p.AdapterProtocol
		to.AdapterProtocol = &protocol
	}
	return to
}

func (p *PostIntent) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeString(pb, 1, &p.URL)
	encodeOrDecodeString(pb, 2, &p.Credential)
	encodeOrDecodeString(pb, 3, &p.Header)
	encodeOrDecodeString(pb, 4, &p.Scheme)
	encodeOrDecodeZigzag(pb, 5, &p.Timeout)
	encodeOrDecodeBool(pb, 6, &p.Repeatable)
	encodeOrDecodeString(pb, 7, &p.TokenURL)
	encodeOrDecodeString(pb, 8, &p.ClientID)
	encodeOrDecodeString(pb, 9, &p.Scope)
	encodeOrDecodeID16(pb, 10, &p.Auction)
	encodeOrDecodeMessage(pb, 11, (*encodableAdapterProtocol)(&p.AdapterProtocol), p.AdapterProtocol != (market.AdapterProtocol{}))
	encodeOrDecodeBool(pb, 12, &p.Trusted)
}

// PostAttemptFailed records a failed attempt to post a lead, after which another attempt follows. A
// restarted process continues the retry schedule by this attempt's number and time.
type PostAttemptFailed struct {
	Lead         market.LeadID
	Attempt      uint32 // step of the retry schedule, from 1
	At           int64  // end of the attempt, Unix nanoseconds
	Status       uint32 // HTTP status; zero: no answer
	Fault        market.OutboundRequestFault
	Verdict      market.PostAttemptVerdict // zero: an earlier program wrote the event
	Code         string                    // the buyer's reason for a refusal
	KeepsAttempt bool                      // the attempt does not count in the schedule: the next one has the same number
}

func (*PostAttemptFailed) Kind() Kind { return KindPostAttemptFailed }
func (t *PostAttemptFailed) reset()   { *t = PostAttemptFailed{} }

func (t *PostAttemptFailed) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeID16(pb, 1, &t.Lead)
	encodeOrDecodeUint32(pb, 2, &t.Attempt)
	encodeOrDecodeFixed64(pb, 3, &t.At)
	encodeOrDecodeUint32(pb, 4, &t.Status)
	encodeOrDecodeEnum(pb, 5, &t.Fault)
	encodeOrDecodeEnum(pb, 6, &t.Verdict)
	encodeOrDecodeString(pb, 7, &t.Code)
	encodeOrDecodeBool(pb, 8, &t.KeepsAttempt)
}

// PostSettlement is a final or intermediate result of posting a lead to a buyer, or a later decision
// on the post. The log stores these numbers, so they never change. A table in the doc comment of
// package market shows which status the lead gets.
type PostSettlement uint8

const (
	SettledDelivered PostSettlement = 1 // the buyer has the lead
	SettledRefused   PostSettlement = 2 // the buyer does not have the lead; Next or Reason tells the continuation
	SettledPending   PostSettlement = 3 // no result when the supplier's answer was due; attempts continue
	SettledUnknown   PostSettlement = 4 // the attempts are used up; the reservation stays, an operator decides
	SettledConfirmed PostSettlement = 5 // operator, or a status report of the buyer: the buyer has the lead
	SettledReleased  PostSettlement = 6 // operator: the buyer does not have the lead
	SettledResent    PostSettlement = 7 // operator: send again
)

var settlementNames = [...]string{"", "delivered", "refused", "pending", "unknown", "confirmed", "released", "resent"}

func (s PostSettlement) String() string {
	return market.EnumName(settlementNames[:], int(s), "invalid")
}

// EndsPost reports whether the settlement ends the post to this buyer, because it is then known
// whether the buyer has the lead.
func (s PostSettlement) EndsPost() bool {
	switch s {
	case SettledDelivered, SettledRefused, SettledConfirmed, SettledReleased:
		return true
	}
	return false
}

// PostSettled records a result of an open post: a post whose final result no event has recorded. If
// the buyer refuses the lead before the supplier's answer is due, the event can also hold the sale
// and the post to the next buyer. One record holds both, so that the lead is always with one buyer.
type PostSettled struct {
	Lead       market.LeadID
	Campaign   market.PermanentNumber
	Settlement PostSettlement
	Sale       Sale // the sale to this buyer, as in the event that began the post
	BuyerLead  string
	Code       string // the buyer's reason for a refusal
	Status     uint32 // HTTP status; zero: no answer
	Attempts   uint32
	Elapsed    int64 // of the last attempt, nanoseconds

	Reason market.UnsoldReason // of a refusal without a next buyer, or of SettledReleased
	Trail  []FilterSetsWithOutcome
	Next   Sale // of a refusal with a next buyer
	Post   PostIntent
	Sealed []byte // encrypted LeadPersonalData with the body of the next post, under the key of Slot

	Webhook  market.WebhookType          // that this event causes, or WebhookNone
	Supplier market.PermanentNumber      // of the lead
	Decided  int64                       // time of the lead's decision, Unix nanoseconds: the month in which it counts as sold
	Fault    market.OutboundRequestFault // of the last attempt; of SettledPending a timeout if an attempt is still running
	Slot     uint64                      // the lead's own, if Sealed is not empty; zero: Sealed is plaintext
	By       string                      // requesting operator; empty: no operator, or an earlier program wrote the event
}

func (*PostSettled) Kind() Kind { return KindPostSettled }

func (s *PostSettled) reset() {
	sale, next, trail := s.Sale, s.Next, s.Trail[:0]
	sale.ResetKeepingCapacity()
	next.ResetKeepingCapacity()
	*s = PostSettled{Sale: sale, Next: next, Trail: trail}
}

func (s *PostSettled) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeID16(pb, 1, &s.Lead)
	encodeOrDecodeEnum(pb, 2, &s.Settlement)
	encodeOrDecodeMessage(pb, 3, &s.Sale, true)
	encodeOrDecodeString(pb, 4, &s.BuyerLead)
	encodeOrDecodeString(pb, 5, &s.Code)
	encodeOrDecodeUint32(pb, 6, &s.Status)
	encodeOrDecodeUint32(pb, 7, &s.Attempts)
	encodeOrDecodeZigzag(pb, 8, &s.Elapsed)
	encodeOrDecodeEnum(pb, 9, &s.Reason)
	encodeOrDecodeTrail(pb, 10, &s.Trail)
	encodeOrDecodeMessage(pb, 11, &s.Next, s.Next.Buyer != 0)
	encodeOrDecodeMessage(pb, 12, &s.Post, s.Next.Buyer != 0)
	encodeOrDecodeBytes(pb, 13, &s.Sealed)
	encodeOrDecodeUint32(pb, 14, &s.Campaign)
	encodeOrDecodeEnum(pb, 15, &s.Webhook)
	encodeOrDecodeUint32(pb, 16, &s.Supplier)
	encodeOrDecodeFixed64(pb, 17, &s.Decided)
	encodeOrDecodeEnum(pb, 18, &s.Fault)
	encodeOrDecodeUint64(pb, 19, &s.Slot)
	encodeOrDecodeString(pb, 20, &s.By)
}

// encodableAdapterProtocol encodes an adapter protocol as a protobuf message. The text with index i in
// AdapterProtocol.TextPointersInEncodingOrder is field i+1.
type encodableAdapterProtocol market.AdapterProtocol

// adapterProtocolIdempotent is the number of the field Idempotent, after the texts of an adapter protocol.
const adapterProtocolIdempotent = 14

func (d *encodableAdapterProtocol) encodeOrDecode(pb *protobufCodec) {
	for i, text := range (*market.AdapterProtocol)(d).TextPointersInEncodingOrder() {
		encodeOrDecodeString(pb, uint32(i+1), text)
	}
	encodeOrDecodeBool(pb, adapterProtocolIdempotent, &d.Idempotent)
}
