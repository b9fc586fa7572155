package refbuyer

import "pingpost/engine/market"

// Stats counts requests and their outcomes.
//
// A ping counts in pings, and in one of bids, no_bids and pings_replayed. If its first
// answer was malformed, it counts in malformed instead. A post counts in posts, and in at
// most one of accepted, rejected, expired and replayed. An attempt with status 500 counts
// as failed, and one with a malformed answer as malformed, besides accepted if the buyer
// accepted it.
type Stats struct {
	Pings         int64 `json:"pings"`          // valid pings
	Bids          int64 `json:"bids"`           // pings with a bid, once for each key
	NoBids        int64 `json:"no_bids"`        // pings without a bid, once for each key
	PingsReplayed int64 `json:"pings_replayed"` // repeated pings
	PeakPings     int64 `json:"peak_pings_per_second"`
	Limited       int64 `json:"limited"`      // pings over the rate limit, answered with 429
	Late          int64 `json:"late"`         // pings that arrived after their expires_at
	ContactSeen   int64 `json:"contact_seen"` // pings with contact data; above 0 is a fault of the exchange
	Malformed     int64 `json:"malformed"`    // intentionally malformed answers
	Tokens        int64 `json:"tokens"`       // issued access tokens
	Unauthorized  int64 `json:"unauthorized"` // requests without a valid token, answered with 401
	Tests         int64 `json:"tests"`        // requests marked as tests; the buyer treats them like others

	Posts      int64 `json:"posts"`       // valid attempts
	Accepted   int64 `json:"accepted"`    // accepted leads, once for each key
	Won        int64 `json:"won"`         // accepted leads with a bid token
	Rejected   int64 `json:"rejected"`    // rejected keys
	Expired    int64 `json:"expired"`     // attempts after their bid expired
	Failed     int64 `json:"failed"`      // attempts answered with 500
	Replayed   int64 `json:"replayed"`    // repeated attempts
	Invalid    int64 `json:"invalid"`     // requests refused for their content or credential
	DoubleSold int64 `json:"double_sold"` // accepted leads that were accepted before under another key
	Forgotten  int64 `json:"forgotten"`   // posts dropped from memory because of its limit

	Revenue market.Money `json:"revenue"` // sum of the bids or prices of accepted leads
}

// Stats returns the current counts.
func (b *Buyer) Stats() Stats {
	s, pings := b.ledger.snapshot(), b.book.snapshot()
	s.Pings, s.Bids, s.NoBids, s.PingsReplayed, s.PeakPings = pings.Pings, pings.Bids, pings.NoBids, pings.PingsReplayed, pings.PeakPings
	s.Malformed += pings.Malformed
	s.Tokens = b.access.issued()
	return s
}
