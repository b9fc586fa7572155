package witness

import (
	"slices"

	"pingpost/engine/market"
)

// leadView is the state of a lead that a lookup or an admin read may show.
type leadView struct {
	status, delivery, reason string
	buyer                    string       // the buyer that has the lead or is being sent it; empty: no buyer
	lookupBuyer              string       // the buyer that may look up the lead
	price                    market.Money // price for the buyer; shown while the lead is sold
	returnState              returnState  // state of a return that needs approval
	erased                   bool
}

// leadViewFrom is a view that is valid from a log position until the next view.
type leadViewFrom struct {
	leadView
	seq uint64
}

// showsPrice reports whether a lookup shows the price.
func (v *leadView) showsPrice() bool { return v.status != "UNMATCHED" && v.status != "OPEN" }

// currentView returns the view for the lead's current state.
func (e *modelLead) currentView() leadView {
	v := leadView{status: "ACCEPTED", buyer: e.buyer, lookupBuyer: e.buyer, price: e.price, returnState: e.returnState, erased: e.erased}
	switch e.state {
	case stateUnsold:
		v.status, v.delivery, v.reason = "UNMATCHED", "none", e.reason
		if e.lastBuyer != "" {
			v.delivery = map[string]string{"released": "released"}[e.settlement]
			if v.delivery == "" {
				v.delivery = "failed"
			}
		}
		if e.acceptedSent {
			v.lookupBuyer = e.lastBuyer // this buyer was sold the lead and may look up its outcome
		}
	case stateRecorded:
		v.delivery = "none"
	case stateOpen:
		v.status, v.delivery = "OPEN", "pending"
	case statePending:
		v.delivery = "pending"
	case stateDelivered:
		v.delivery = e.settlement
	case stateUnknown:
		v.delivery = "unknown"
	}
	if n := len(e.statuses); n > 0 {
		v.status = e.statuses[n-1]
	}
	if e.isReturned() {
		v.returnState = returnApproved
	}
	return v
}

// recordLeadViews records the views of all leads that an event changes.
func (b *logModel) recordLeadViews(f *eventFields) {
	touched := slices.Clone(f.Leads)
	if f.Lead != "" {
		touched = append(touched, f.Lead)
	}
	for i := range f.Changes {
		touched = append(touched, f.Changes[i].Lead)
	}
	for _, id := range touched {
		e := b.leads[id]
		if e == nil {
			continue
		}
		v := e.currentView()
		if n := len(e.viewHistory); n == 0 || e.viewHistory[n-1].leadView != v {
			e.viewHistory = append(e.viewHistory, leadViewFrom{v, b.seq})
		}
	}
}

// viewsSince returns the views that were valid at any moment after a log position.
func (e *modelLead) viewsSince(seq uint64) (some []leadViewFrom) {
	for i := range e.viewHistory {
		if i+1 == len(e.viewHistory) || e.viewHistory[i+1].seq > seq {
			some = append(some, e.viewHistory[i])
		}
	}
	return some
}

// firstSeqOfView returns the log position of the first matching view, or 0.
func (e *modelLead) firstSeqOfView(is func(v *leadView) bool) uint64 {
	for i := range e.viewHistory {
		if is(&e.viewHistory[i].leadView) {
			return e.viewHistory[i].seq
		}
	}
	return 0
}
