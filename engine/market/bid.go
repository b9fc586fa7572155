package market

import "time"

// PingRequest asks one buyer what it would pay for a lead, of which it shows
// nothing that says who the person is.
type PingRequest struct {
	Endpoint  Endpoint
	Key       string    // Idempotency-Key; empty where the endpoint knows none
	RequestID RequestID // for the buyer's logs and ours
	Hops      int       // X-Pingpost-Hops: how many exchanges the ping has been through, this one included; 0 is not sent
	Body      []byte    // shared by all pings of an auction: read only, and no longer used once the ping has returned
	Auction   []byte    // text of the auction's id, which the answer must echo; read only, like Body
	Deadline  time.Time // when the ping is given up, whatever it is doing
	Test      bool      // X-Pingpost-Test: it is over a test lead, and bids for no other

	Traceparent string // W3C's header of that name, of a request that is traced; empty: it is not sent
}

// Bid is a buyer's offer as it read it out: well formed, and not judged yet.
type Bid struct {
	Amount     Money
	Currency   Currency // zero: not said, so the campaign's
	Token      string   // what the post has to present: 1 to 512 bytes of visible ASCII
	ValidUntil int64    // Unix nanoseconds; 0: not said, so the ceiling
}

// MaxBidToken is how many bytes a bid's token may have.
const MaxBidToken = 512

// PingResult is what one ping came to.
type PingResult struct {
	// Outcome is OutcomeNone where there is a bid, which is to be judged next.
	// Else it is what the candidate came to: no_bid, timeout, rate_limited (a
	// 429, of this ping or of an earlier one that still holds), invalid, error.
	Outcome Outcome
	Bid     Bid
	// Reason is for the record, and for nobody to decide by: of a no_bid or an
	// error, the buyer's own word (reject_reason, or the code of its error); of
	// an answer that is invalid by its members, the path of the first that is,
	// such as bid.amount. Printable ASCII, at most 64 bytes.
	Reason     string
	Status     int   // of the answer; 0 without one
	Fault      Fault // why there was no answer to go by; FaultNone when there was
	RetryAfter time.Duration
	Elapsed    time.Duration
}
