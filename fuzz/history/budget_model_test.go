//go:build unix

package history

import (
	"fmt"
	"net/http"

	"github.com/anishathalye/porcupine"
)

// budget is a limit of a buyer: a cap or an account.
type budget struct {
	campaign, buyer string
	reason          string // of an unsold lead when the budget is exhausted
	fallback        string // the buyer of a lead when the budget is exhausted, instead
	whole, cost     int64  // at the begin of the history; of a lead
	isAccount       bool
	isPosted        bool // the buyer has an endpoint; clients return none of its leads
}

// budgetState is the state of a budget.
type budgetState struct {
	left     int64
	returned uint64 // set of returned leads
}

// budgetModel is the specification of a budget: a lead is sold to the buyer exactly if the rest suffices, and a
// lead is returned once.
var budgetModel = porcupine.Model{
	Partition: partitionBy(func(r *request) string { return r.budget.buyer }),
	Init:      func() any { return budgetState{left: -1} },
	Step: func(state, input, output any) (bool, any) {
		s, r, a := state.(budgetState), input.(*request), output.(*answer)
		if s.left < 0 {
			s.left = r.budget.whole
		}
		switch r.kind {
		case ingest:
			return stepIngest(s, r.budget, a)
		case returnLead:
			isNew := s.returned&r.bit == 0
			if isNew {
				s.left += r.budget.cost
				s.returned |= r.bit
			}
			return !a.isKnown || a.status == http.StatusOK, s
		case topUp:
			s.left += r.amount
			return !a.isKnown || a.status == http.StatusOK, s
		default:
			return a.left == s.left, s
		}
	},
	DescribeOperation: describeStep,
	DescribeState:     func(state any) string { return fmt.Sprintf("%d left", state.(budgetState).left) },
}

func stepIngest(s budgetState, b *budget, a *answer) (bool, any) {
	suffices := s.left >= b.cost
	if suffices {
		s.left -= b.cost
	}
	switch {
	case !a.isKnown:
		return true, s
	case a.isAccepted() && a.Data.Buyer == b.buyer:
		return suffices, s
	case a.isAccepted():
		return !suffices && a.Data.Buyer == b.fallback, s
	}
	return !suffices && b.fallback == "" && a.Data.Status == "UNMATCHED" && a.Data.Reason == b.reason, s
}

// maxReturns is the number of leads of a budget that clients return in one history.
const maxReturns = 64

// budgetOperations returns the operations of all budgets, and numbers the returned leads.
func budgetOperations(all []operation) []operation {
	selected := mergeKeys(selectOperations(all, func(o *operation) bool { return o.budget != nil }))
	number := map[string]int{}
	count := map[*budget]int{}
	for i := range selected {
		o := &selected[i]
		if o.kind != returnLead {
			continue
		}
		if _, known := number[o.lead]; !known {
			number[o.lead] = count[o.budget]
			count[o.budget]++
		}
		o.bit = 1 << number[o.lead]
	}
	return selected
}
