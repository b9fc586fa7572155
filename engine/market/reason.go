package market

// UnsoldReason tells a supplier why its lead is unsold. If buyers failed at different stages, the
// supplier gets the reason of the furthest stage (see reasonRank). The numbers are in the log and
// never change.
type UnsoldReason uint8

const (
	ReasonNone              UnsoldReason = 0 // sold, or not yet decided
	ReasonNoBuyer           UnsoldReason = 1
	ReasonNoStateMatch      UnsoldReason = 2
	ReasonFiltered          UnsoldReason = 3
	ReasonOutsideSchedule   UnsoldReason = 4
	ReasonCapsFull          UnsoldReason = 5
	ReasonInsufficientFunds UnsoldReason = 6
	ReasonRateLimited       UnsoldReason = 7
	ReasonTimeout           UnsoldReason = 8
	ReasonNoBid             UnsoldReason = 9
	ReasonBelowFloor        UnsoldReason = 10
	ReasonBidExpired        UnsoldReason = 11
	ReasonPostRejected      UnsoldReason = 12
	ReasonSuppressed        UnsoldReason = 13
	ReasonDuplicate         UnsoldReason = 14
	ReasonNoCampaign        UnsoldReason = 15 // of a ping: no campaign of the seller accepts it
	ReasonLoop              UnsoldReason = 16 // of a ping: it passed through too many exchanges
	reasonEnd               UnsoldReason = 17
)

var reasonNames = [reasonEnd]string{
	"", "no_buyer", "no_state_match", "filtered", "outside_schedule", "caps_full",
	"insufficient_funds", "rate_limited", "timeout", "no_bid", "below_floor",
	"bid_expired", "post_rejected", "suppressed", "duplicate",
	"no_campaign", "loop",
}

// reasonRank orders the reasons by the stage that the lead reached. Reasons that depend on
// one buyer's knowledge of the lead (its own suppression list, its own duplicates) rank
// with its filters. Two reasons rank before all others: they end the decision before there
// is any candidate.
var reasonRank = [reasonEnd]uint8{
	ReasonNone: 0, ReasonLoop: 1, ReasonNoCampaign: 2,
	ReasonNoBuyer: 3, ReasonNoStateMatch: 4, ReasonFiltered: 5,
	ReasonSuppressed: 6, ReasonDuplicate: 7, ReasonOutsideSchedule: 8,
	ReasonCapsFull: 9, ReasonInsufficientFunds: 10, ReasonRateLimited: 11,
	ReasonTimeout: 12, ReasonNoBid: 13, ReasonBelowFloor: 14,
	ReasonBidExpired: 15, ReasonPostRejected: 16,
}

// String returns the reason as the API writes it. It is empty for ReasonNone.
func (r UnsoldReason) String() string { return EnumName(reasonNames[:], int(r), "unknown") }

// LaterStageReason returns r or other, the one with the later stage in a decision (see reasonRank).
func (r UnsoldReason) LaterStageReason(other UnsoldReason) UnsoldReason {
	if reasonRank[other] > reasonRank[r] {
		return other
	}
	return r
}

// BuyerOutcome is the result of one buyer in the decision on one lead; each candidate has exactly one.
// The log record, the log line, the metric and the dashboard all use it. The numbers are in the
// log and never change.
type BuyerOutcome uint8

const (
	OutcomeNone          BuyerOutcome = 0 // not pinged: the lead was sold before
	OutcomeWon           BuyerOutcome = 1
	OutcomeLost          BuyerOutcome = 2
	OutcomeBelowFloor    BuyerOutcome = 3
	OutcomeWrongCurrency BuyerOutcome = 4
	OutcomeLate          BuyerOutcome = 5
	OutcomeTimeout       BuyerOutcome = 6
	OutcomeNoBid         BuyerOutcome = 7
	OutcomeInvalid       BuyerOutcome = 8
	OutcomeRateLimited   BuyerOutcome = 9
	OutcomeCapped        BuyerOutcome = 10
	OutcomeFiltered      BuyerOutcome = 11
	OutcomeWrongState    BuyerOutcome = 12
	OutcomeClosed        BuyerOutcome = 13
	OutcomeNoFunds       BuyerOutcome = 14
	OutcomeSuppressed    BuyerOutcome = 15
	OutcomeUnhealthy     BuyerOutcome = 16
	OutcomePaused        BuyerOutcome = 17
	OutcomeError         BuyerOutcome = 18
	OutcomePostRejected  BuyerOutcome = 19
	OutcomePostPending   BuyerOutcome = 20
	OutcomeDuplicate     BuyerOutcome = 21 // this buyer already has the lead (duplicates by buyer)
	OutcomeOtherSet      BuyerOutcome = 22 // another filter set of the buyer got the ping or the lead
	outcomeEnd           BuyerOutcome = 23
)

// OutcomeCount is the number of outcomes, for arrays that are indexed by an outcome.
const OutcomeCount = int(outcomeEnd)

var outcomeNames = [outcomeEnd]string{
	"not_asked", "won", "lost", "below_floor", "wrong_currency", "late", "timeout",
	"no_bid", "invalid", "rate_limited", "capped", "filtered", "wrong_state",
	"closed", "no_funds", "suppressed", "unhealthy", "paused", "error",
	"post_rejected", "post_pending", "duplicate", "other_filter_set",
}

// outcomeReasons maps a candidate's outcome to the supplier's reason.
var outcomeReasons = [outcomeEnd]UnsoldReason{
	OutcomeBelowFloor:    ReasonBelowFloor,
	OutcomeWrongCurrency: ReasonNoBid,
	OutcomeLate:          ReasonNoBid,
	OutcomeTimeout:       ReasonNoBid, // ReasonTimeout if all pinged buyers timed out
	OutcomeNoBid:         ReasonNoBid,
	OutcomeInvalid:       ReasonNoBid,
	OutcomeRateLimited:   ReasonRateLimited,
	OutcomeCapped:        ReasonCapsFull,
	OutcomeFiltered:      ReasonFiltered,
	OutcomeWrongState:    ReasonNoStateMatch,
	OutcomeClosed:        ReasonOutsideSchedule,
	OutcomeNoFunds:       ReasonInsufficientFunds,
	OutcomeSuppressed:    ReasonSuppressed,
	OutcomeUnhealthy:     ReasonNoBid,
	OutcomePaused:        ReasonNoBid,
	OutcomeError:         ReasonNoBid,
	OutcomePostRejected:  ReasonPostRejected,
	OutcomeDuplicate:     ReasonDuplicate,
}

func (o BuyerOutcome) String() string { return EnumName(outcomeNames[:], int(o), "unknown") }

// UnsoldReasonForSupplier returns the reason that a supplier gets if this is the furthest outcome of
// all buyers. It returns ReasonNone for won, lost, post pending, another filter set and not pinged. A timeout gives no_bid;
// the caller replaces it if all pinged buyers timed out.
func (o BuyerOutcome) UnsoldReasonForSupplier() UnsoldReason { return outcomeReasons[o] }
