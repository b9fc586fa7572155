// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// UnmatchedReason is: The cause of an unsold lead. `suppressed` and `duplicate` end the processing at once. The others are the furthest stage that any buyer reached, in this order: `no_buyer` (the campaign has no buyer), `no_state_match`, `filtered`, `outside_schedule`, `caps_full`, `insufficient_funds`, `rate_limited` (all buyers' ping limits are reached), `timeout` (no answer in time), `no_bid`, `below_floor`, `bid_expired`, `post_rejected` (the buyer rejected the lead).
// Others than those below may come.
type UnmatchedReason string

const (
	UnmatchedReasonNoBuyer           UnmatchedReason = "no_buyer"
	UnmatchedReasonNoStateMatch      UnmatchedReason = "no_state_match"
	UnmatchedReasonFiltered          UnmatchedReason = "filtered"
	UnmatchedReasonOutsideSchedule   UnmatchedReason = "outside_schedule"
	UnmatchedReasonCapsFull          UnmatchedReason = "caps_full"
	UnmatchedReasonInsufficientFunds UnmatchedReason = "insufficient_funds"
	UnmatchedReasonRateLimited       UnmatchedReason = "rate_limited"
	UnmatchedReasonTimeout           UnmatchedReason = "timeout"
	UnmatchedReasonNoBid             UnmatchedReason = "no_bid"
	UnmatchedReasonBelowFloor        UnmatchedReason = "below_floor"
	UnmatchedReasonBidExpired        UnmatchedReason = "bid_expired"
	UnmatchedReasonPostRejected      UnmatchedReason = "post_rejected"
	UnmatchedReasonSuppressed        UnmatchedReason = "suppressed"
	UnmatchedReasonDuplicate         UnmatchedReason = "duplicate"
)
