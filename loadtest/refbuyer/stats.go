package refbuyer

import "pingpost/engine/market"

// Stats is what has come, and what became of it.
//
// A ping is counted in pings, and in one of bids, no_bids and pings_replayed,
// or, where its first answer was nonsense, in malformed. A post is counted in
// posts, and in at most one of accepted, rejected, expired and replayed; an
// attempt that was answered 500 is counted as failed, and one that was answered
// with nonsense as malformed, beside accepted where it was taken first.
type Stats struct {
	Pings         int64 `json:"pings"`          // well-formed ones
	Bids          int64 `json:"bids"`           // pings that were answered with a bid, once a key
	NoBids        int64 `json:"no_bids"`        // likewise, without one
	PingsReplayed int64 `json:"pings_replayed"` // pings that got the answer of an earlier one
	PeakPings     int64 `json:"peak_pings_per_second"`
	Limited       int64 `json:"limited"`      // pings over the rate, answered 429
	Late          int64 `json:"late"`         // pings that came when their expires_at had passed
	ContactSeen   int64 `json:"contact_seen"` // pings that carried a person: always 0, or somebody is to be told
	Malformed     int64 `json:"malformed"`    // answers made bad on purpose
	Tokens        int64 `json:"tokens"`       // access tokens given out
	Unauthorized  int64 `json:"unauthorized"` // requests without a good one, answered 401
	Tests         int64 `json:"tests"`        // requests that say that they are tests; they are met like any

	Posts      int64 `json:"posts"`       // well-formed attempts
	Accepted   int64 `json:"accepted"`    // leads taken: once a key
	Won        int64 `json:"won"`         // of these, those that came with the token of a bid
	Rejected   int64 `json:"rejected"`    // keys refused for good
	Expired    int64 `json:"expired"`     // attempts that came after their bid had run out
	Failed     int64 `json:"failed"`      // attempts answered 500
	Replayed   int64 `json:"replayed"`    // attempts that got the answer of an earlier one
	Invalid    int64 `json:"invalid"`     // requests refused for what they said, or for their credential
	DoubleSold int64 `json:"double_sold"` // leads taken that were taken under another key before
	Forgotten  int64 `json:"forgotten"`   // posts dropped from memory to stay within its limit

	Revenue market.Money `json:"revenue"` // owed for what was accepted: its bid, or its price where there was none
}

// Stats is what has come so far.
func (b *Buyer) Stats() Stats {
	s, pings := b.ledger.snapshot(), b.book.snapshot()
	s.Pings, s.Bids, s.NoBids, s.PingsReplayed = pings.pings, pings.bids, pings.noBids, pings.repeated
	s.PeakPings, s.ContactSeen = pings.peak, pings.contacts
	s.Malformed += pings.malformed
	s.Late = pings.late
	s.Limited = b.limiter.refused()
	s.Tokens = b.access.issued()
	s.Unauthorized, s.Tests = b.unauthorized.Load(), b.tests.Load()
	return s
}
