package market

import "time"

// ReturnRule is how a campaign's buyers may give leads back.
type ReturnRule struct {
	Window        time.Duration       // from the sale on; zero: never
	Reasons       map[string]struct{} // empty: any
	Manual        bool                // an operator decides
	CapBack       bool                // caps get back what the sale took, where its windows are still open
	ReversePayout bool                // the supplier's payout is taken back
	MaxShare      Share               // of the leads that a buyer bought here in one month (UTC)
}

// Takes tells whether a return may be asked for with this reason.
func (r *ReturnRule) Takes(reason string) bool {
	if reason == "" {
		return false
	}
	if len(r.Reasons) == 0 {
		return true
	}
	_, ok := r.Reasons[reason]
	return ok
}

// Fits tells whether one more return stays within the share, when returned of sold
// leads have come back already or are about to.
func (r *ReturnRule) Fits(returned, sold int64) bool {
	if r.MaxShare >= WholeShare {
		return returned < sold
	}
	return (returned+1)*int64(WholeShare) <= int64(r.MaxShare)*sold
}

// ReturnState is where a lead's return stands. Numbers are in snapshots and never
// change.
type ReturnState uint8

const (
	ReturnNone     ReturnState = 0 // nobody asked for one
	ReturnWaits    ReturnState = 1 // for the operator
	ReturnApproved ReturnState = 2 // the lead went back
	ReturnRefused  ReturnState = 3 // by the operator; it cannot be asked for again
	returnStateEnd ReturnState = 4
)

func (r ReturnState) String() string {
	names := [returnStateEnd]string{"none", "waiting", "approved", "refused"}
	if r >= returnStateEnd {
		return "invalid"
	}
	return names[r]
}

// MonthOf is the beginning of the month in UTC in which at lies; both in Unix
// nanoseconds.
func MonthOf(at int64) int64 {
	month, _ := PeriodMonth.Window(at, time.UTC)
	return month
}
