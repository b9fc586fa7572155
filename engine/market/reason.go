package market

// Reason tells a supplier why its lead is unsold. If buyers failed at different stages, the
// supplier gets the reason of the furthest stage (see reasonRank). The numbers are in the log and
// never change.
type Reason uint8

const (
	ReasonNone              Reason = 0 // sold, or not yet decided
	ReasonNoBuyer           Reason = 1
	ReasonNoStateMatch      Reason = 2
	ReasonFiltered          Reason = 3
	ReasonOutsideSchedule   Reason = 4
	ReasonCapsFull          Reason = 5
	ReasonInsufficientFunds Reason = 6
	ReasonRateLimited       Reason = 7
	ReasonTimeout           Reason = 8
	ReasonNoBid             Reason = 9
	ReasonBelowFloor        Reason = 10
	ReasonBidExpired        Reason = 11
	ReasonPostRejected      Reason = 12
	ReasonSuppressed        Reason = 13
	ReasonDuplicate         Reason = 14
	ReasonNoCampaign        Reason = 15 // of a ping: no campaign of the seller accepts it
	ReasonLoop              Reason = 16 // of a ping: it passed through too many exchanges
	reasonEnd               Reason = 17
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
func (r Reason) String() string { return EnumName(reasonNames[:], int(r), "unknown") }

// FurthestOf returns r or other, the one with the later stage in a decision (see reasonRank).
func (r Reason) FurthestOf(other Reason) Reason {
	if reasonRank[other] > reasonRank[r] {
		return other
	}
	return r
}

// Outcome is the result of one buyer in the decision on one lead; each candidate has exactly one.
// The log record, the log line, the metric and the dashboard all use it. The numbers are in the
// log and never change.
type Outcome uint8

const (
	OutcomeNone          Outcome = 0 // not pinged: the lead was sold before
	OutcomeWon           Outcome = 1
	OutcomeLost          Outcome = 2
	OutcomeBelowFloor    Outcome = 3
	OutcomeWrongCurrency Outcome = 4
	OutcomeLate          Outcome = 5
	OutcomeTimeout       Outcome = 6
	OutcomeNoBid         Outcome = 7
	OutcomeInvalid       Outcome = 8
	OutcomeRateLimited   Outcome = 9
	OutcomeCapped        Outcome = 10
	OutcomeFiltered      Outcome = 11
	OutcomeWrongState    Outcome = 12
	OutcomeClosed        Outcome = 13
	OutcomeNoFunds       Outcome = 14
	OutcomeSuppressed    Outcome = 15
	OutcomeUnhealthy     Outcome = 16
	OutcomePaused        Outcome = 17
	OutcomeError         Outcome = 18
	OutcomePostRejected  Outcome = 19
	OutcomePostPending   Outcome = 20
	OutcomeDuplicate     Outcome = 21 // this buyer already has the lead (duplicates by buyer)
	outcomeEnd           Outcome = 22
)

// OutcomeCount is the number of outcomes, for arrays that are indexed by an outcome.
const OutcomeCount = int(outcomeEnd)

var outcomeNames = [outcomeEnd]string{
	"not_asked", "won", "lost", "below_floor", "wrong_currency", "late", "timeout",
	"no_bid", "invalid", "rate_limited", "capped", "filtered", "wrong_state",
	"closed", "no_funds", "suppressed", "unhealthy", "paused", "error",
	"post_rejected", "post_pending", "duplicate",
}

// outcomeReasons maps a candidate's outcome to the supplier's reason.
var outcomeReasons = [outcomeEnd]Reason{
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

func (o Outcome) String() string { return EnumName(outcomeNames[:], int(o), "unknown") }

// SupplierReason returns the reason that a supplier gets if this is the furthest outcome of all
// buyers. A timeout gives no_bid; the caller replaces it if all pinged buyers timed out.
func (o Outcome) SupplierReason() Reason { return outcomeReasons[o] }
