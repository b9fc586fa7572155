package market

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pingpost/engine/market/calendar"
)

// ReturnRule says which returns of leads a campaign accepts from its buyers: how long, for which
// reasons, how many, and whether an operator must approve them. It also says whether a return
// reverses the supplier's payout and gives capacity back to the buyer's caps.
type ReturnRule struct {
	Window        time.Duration       // from the sale on; zero: never
	Reasons       map[string]struct{} // empty: any
	Manual        bool                // an operator must approve
	RestoreCaps   bool                // returns give capacity back to caps whose windows are still open
	ReversePayout bool                // the supplier's payout is reversed
	MaxShare      ShareInMillionths   // of the leads that a buyer bought here in one month (UTC)
}

// DefaultReturnRule returns the rule of a campaign whose configuration has no rule for returns.
// It also applies to a campaign that was removed from the configuration.
func DefaultReturnRule() ReturnRule {
	return ReturnRule{Window: 14 * 24 * time.Hour, ReversePayout: true, MaxShare: WholeShare}
}

// AcceptsReturnReason reports whether a buyer may give this reason for a return.
func (r *ReturnRule) AcceptsReturnReason(reason string) bool {
	if reason == "" {
		return false
	}
	if len(r.Reasons) == 0 {
		return true
	}
	_, ok := r.Reasons[reason]
	return ok
}

// maxReasonList is the length in bytes above which ListAcceptedReasons names no further reason.
// With it, the answers to a thousand refused returns fit one log record.
const maxReasonList = 300

// ListAcceptedReasons returns the accepted reasons as text: quoted, sorted and separated by commas. It
// names only the first ones of a long list, and counts the rest. The text is empty if the rule accepts
// any reason.
func (r *ReturnRule) ListAcceptedReasons() string {
	var list strings.Builder
	for i, reason := range slices.Sorted(maps.Keys(r.Reasons)) {
		quoted := fmt.Sprintf("%q", reason)
		if i > 0 {
			if list.Len()+2+len(quoted) > maxReasonList {
				fmt.Fprintf(&list, " and %d more", len(r.Reasons)-i)
				break
			}
			list.WriteString(", ")
		}
		list.WriteString(quoted)
	}
	return list.String()
}

// ShareAllowsAnotherReturn reports whether one more return stays within the maximum share of returns.
// soldInMonth is the number of leads that the buyer bought in the month. returnedInMonth is the
// number of them that were returned or have a pending return.
func (r *ReturnRule) ShareAllowsAnotherReturn(returnedInMonth, soldInMonth int64) bool {
	if r.MaxShare >= WholeShare {
		return returnedInMonth < soldInMonth
	}
	return (returnedInMonth+1)*int64(WholeShare) <= int64(r.MaxShare)*soldInMonth
}

// ReturnState is the state of a buyer's return of a lead. The numbers are in snapshots and never
// change.
type ReturnState uint8

const (
	ReturnNone     ReturnState = 0 // no return was requested
	ReturnPending  ReturnState = 1 // awaits the operator's approval
	ReturnApproved ReturnState = 2 // the lead was returned
	ReturnRefused  ReturnState = 3 // by the operator; final
)

var returnStateNames = [...]string{"none", "waiting", "approved", "refused"}

func (r ReturnState) String() string { return EnumName(returnStateNames[:], int(r), "invalid") }

// StartOfUTCMonth returns the beginning of the UTC month that contains unixNanos; both are in Unix
// nanoseconds.
func StartOfUTCMonth(unixNanos int64) int64 {
	month, _ := calendar.Month.WindowContaining(unixNanos, time.UTC)
	return month
}
