// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// NoBidReason is: The cause of a no-bid: an unsold reason, or `no_campaign` (no active campaign accepts pings of this vertical from this seller), or `loop` (the ping has passed too many exchanges).
// Others than those below may come.
type NoBidReason string

const (
	NoBidReasonNoBuyer           NoBidReason = "no_buyer"
	NoBidReasonNoStateMatch      NoBidReason = "no_state_match"
	NoBidReasonFiltered          NoBidReason = "filtered"
	NoBidReasonOutsideSchedule   NoBidReason = "outside_schedule"
	NoBidReasonCapsFull          NoBidReason = "caps_full"
	NoBidReasonInsufficientFunds NoBidReason = "insufficient_funds"
	NoBidReasonRateLimited       NoBidReason = "rate_limited"
	NoBidReasonTimeout           NoBidReason = "timeout"
	NoBidReasonNoBid             NoBidReason = "no_bid"
	NoBidReasonBelowFloor        NoBidReason = "below_floor"
	NoBidReasonBidExpired        NoBidReason = "bid_expired"
	NoBidReasonPostRejected      NoBidReason = "post_rejected"
	NoBidReasonSuppressed        NoBidReason = "suppressed"
	NoBidReasonDuplicate         NoBidReason = "duplicate"
	NoBidReasonNoCampaign        NoBidReason = "no_campaign"
	NoBidReasonLoop              NoBidReason = "loop"
)
