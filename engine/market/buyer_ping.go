package market

import (
	"time"

	"pingpost/engine/market/escape"
	"pingpost/engine/market/format"
)

// BuyerPingMetadata has the values of a ping to a buyer that are not fields of the lead.
type BuyerPingMetadata struct {
	Auction     AuctionID
	Vertical    string
	SubVertical string // empty: not sent
	ExpiresAt   int64  // Unix nanoseconds; sent in milliseconds, rounded down
}

// PingTimeLayout is the layout of times in pings, for package time: RFC 3339 in UTC with
// milliseconds.
const PingTimeLayout = "2006-01-02T15:04:05.000Z"

// AppendPing appends the body of a ping to a buyer: the metadata, then every field that is marked
// ping, under its name for buyers. Of the zip it sends the first three digits as zip3.
// tcpa_consent is always sent, and false if unknown.
//
// Two rules keep personal data out. Contact fields are skipped, even if they are marked ping. And
// unknown members are sent only if the lead was filled from a ping, because only those were
// searched for contact details. An ingest's unknown members go into the post alone.
//
// This body is the same for every buyer of the auction. A buyer with an adapter protocol gets the body of its
// BodyTemplate instead.
func (m *FieldMapping) AppendPing(dst []byte, l *Lead, metadata BuyerPingMetadata) []byte {
	dst = append(dst, `{"auction_id":"`...)
	dst = metadata.Auction.AppendAsText(dst)
	dst = append(dst, `","vertical":`...)
	dst = escape.AppendJSONString(dst, []byte(metadata.Vertical))
	if metadata.SubVertical != "" {
		dst = append(dst, `,"sub_vertical":`...)
		dst = escape.AppendJSONString(dst, []byte(metadata.SubVertical))
	}
	for slot := range m.rules {
		if r := &m.rules[slot]; r.ping && !r.contact {
			dst = m.appendPingField(dst, l, LeadFieldIndex(slot))
		}
	}
	if l.fromPing {
		for i := range l.Extras {
			dst = append(dst, ',')
			dst = escape.AppendJSONString(dst, l.Extras[i].Name)
			dst = append(dst, ':')
			dst = l.Extras[i].Value.AppendJSON(dst)
		}
	}
	dst = append(dst, `,"expires_at":"`...)
	dst = time.Unix(0, metadata.ExpiresAt).UTC().AppendFormat(dst, PingTimeLayout)
	return append(dst, `"}`...)
}

// appendPingField appends one field to a ping, with the special rules for zip and tcpa_consent.
func (m *FieldMapping) appendPingField(dst []byte, l *Lead, slot LeadFieldIndex) []byte {
	value := &l.Values[slot]
	switch {
	case slot == SlotZip:
		if zip3 := format.ZIPPrefix3(value.Text); zip3 != nil {
			dst = append(append(append(dst, `,"zip3":"`...), zip3...), '"')
		}
		return dst
	case slot == SlotTCPAConsent && value.Kind == KindAbsent:
		return append(dst, `,"tcpa_consent":false`...)
	}
	return m.appendFieldIfPresent(dst, l, slot)
}

// BuyerPingRequest asks one buyer for a bid on a lead, without personal data.
type BuyerPingRequest struct {
	Buyer          BuyerID // whose connections the ping uses
	Endpoint       OutboundEndpoint
	IdempotencyKey string    // Idempotency-Key; empty: the endpoint knows none
	RequestID      RequestID // for the buyer's logs and ours
	Hops           int       // X-Pingpost-Hops: number of exchanges including this one; 0: not sent
	Body           []byte    // shared by all pings of an auction: read only, and not used after the ping has returned
	Auction        []byte    // text of the auction's id, which the answer must repeat; read only, like Body
	Deadline       time.Time // end of the ping
	Test           bool      // X-Pingpost-Test: it is for a test lead, and its bids count for no other

	Traceparent string // W3C's header of that name for a traced request; empty: not sent
}

// Bid is a buyer's offer as received: its form is valid, but it was not checked against the
// auction's floor, currency and deadline.
type Bid struct {
	Amount     Money
	Currency   Currency // zero: not given: the campaign's currency
	Token      string   // that the post has to present: 1 to 512 bytes of visible ASCII
	ValidUntil int64    // Unix nanoseconds; 0: not given: valid until the time limit
}

// MaxBidToken is the maximum size of a bid's token in bytes.
const MaxBidToken = 512

// BuyerPingResult is the result of one ping to a buyer.
type BuyerPingResult struct {
	// The outcome is OutcomeNone if there is a bid, which the auction checks next.
	// Otherwise it is no_bid, timeout, invalid, error, or rate_limited. The cause of
	// rate_limited is a 429 to this ping or to an earlier one whose Retry-After has
	// not passed, or, with FaultConnectionLimit, the buyer's limit of connections.
	Outcome BuyerOutcome
	Bid     Bid
	// The reason is for the record; no decision depends on it. For a no_bid or an error
	// it is the buyer's reject_reason or error code. For an answer with an invalid
	// member it is the path of the first one, such as bid.amount. Printable ASCII, at
	// most 64 bytes.
	Reason     string
	Status     int                  // of the answer; 0 without one
	Fault      OutboundRequestFault // why there was no usable answer; FaultNone if there was one
	RetryAfter time.Duration        // of rate_limited: the rest of the pause that the buyer demanded with a 429
	Elapsed    time.Duration
}
