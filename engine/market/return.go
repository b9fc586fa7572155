package market

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pingpost/engine/market/calendar"
)

// ReturnRule is the campaign's rule for returns by its buyers.
type ReturnRule struct {
	Window        time.Duration       // from the sale on; zero: never
	Reasons       map[string]struct{} // empty: any
	Manual        bool                // an operator must approve
	RestoreCaps   bool                // returns give capacity back to caps whose windows are still open
	ReversePayout bool                // the supplier's payout is reversed
	MaxShare      PriceShare          // of the leads that a buyer bought here in one month (UTC)
}

// DefaultReturnRule is the rule of a campaign without configured returns, and of a removed
// one.
func DefaultReturnRule() ReturnRule {
	return ReturnRule{Window: 14 * 24 * time.Hour, ReversePayout: true, MaxShare: WholeShare}
}

// AcceptsReason reports whether a return with this reason is allowed.
func (r *ReturnRule) AcceptsReason(reason string) bool {
	if reason == "" {
		return false
	}
	if len(r.Reasons) == 0 {
		return true
	}
	_, ok := r.Reasons[reason]
	return ok
}

// maxReasonList bounds ListReasons, so that a thousand refused returns fit one entry
// of the log.
const maxReasonList = 300

// ListReasons lists the allowed reasons in quotes, sorted. Of a long list it names the
// first ones and counts the rest.
func (r *ReturnRule) ListReasons() string {
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

// AllowsAnotherReturn reports whether one more return stays within the share, if returned of
// sold leads were returned or are pending.
func (r *ReturnRule) AllowsAnotherReturn(returned, sold int64) bool {
	if r.MaxShare >= WholeShare {
		return returned < sold
	}
	return (returned+1)*int64(WholeShare) <= int64(r.MaxShare)*sold
}

// ReturnState is the state of a lead's return. Numbers are in snapshots and never change.
type ReturnState uint8

const (
	ReturnNone     ReturnState = 0 // no return was requested
	ReturnPending  ReturnState = 1 // awaits the operator's approval
	ReturnApproved ReturnState = 2 // the lead was returned
	ReturnRefused  ReturnState = 3 // by the operator; final
	returnStateEnd ReturnState = 4
)

func (r ReturnState) String() string {
	names := [returnStateEnd]string{"none", "waiting", "approved", "refused"}
	if r >= returnStateEnd {
		return "invalid"
	}
	return names[r]
}

// StartOfMonth returns the beginning of the UTC month that contains at; both are in Unix
// nanoseconds.
func StartOfMonth(at int64) int64 {
	month, _ := calendar.Month.WindowContaining(at, time.UTC)
	return month
}
