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

// UsualReturns is the rule of a campaign that says nothing of returns, and of one
// that is gone.
func UsualReturns() ReturnRule {
	return ReturnRule{Window: 14 * 24 * time.Hour, ReversePayout: true, MaxShare: WholeShare}
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
