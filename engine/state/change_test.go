package state

import (
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// november is the month in which these leads were sold.
var november = market.StartOfUTCMonth(monday)

// reported is what became of the one lead that these tests are about.
func reported(result event.LeadStatusChangeResult, to market.LeadStatus, back event.ResourcesFreedByReturn) *event.LeadStatusesChanged {
	return &event.LeadStatusesChanged{Buyer: 1, At: monday, Changes: []event.LeadStatusChange{{
		Lead: history, Result: result, To: to, Return: back, Supplier: 1,
	}}}
}

// decision is the operator's word on a return that waited.
func decision(result event.LeadStatusChangeResult, back event.ResourcesFreedByReturn) *event.LeadStatusesChanged {
	fact := reported(result, market.StatusReturned, back)
	fact.Changes[0].WasPending = true
	return fact
}

// whole is a return of all that red paid, the room in its cap included.
var whole = event.ResourcesFreedByReturn{Campaign: 1, Credit: red.Price, Reverse: red.Payout, Charges: red.Charges, Month: november}

// after is all that reports can change.
type after struct {
	status         market.LeadStatus
	back           market.ReturnState
	balance        market.Money // in dollars
	used           int64        // of the cap by count
	sold, returned int64
}

func (w *world) after() after {
	lead, _ := w.Lead(history)
	balance, _ := w.BuyerBalance(1)
	got := after{status: lead.Status, back: lead.ReturnState(), balance: balance / dollar, used: w.caps.counterOf(3).used}
	got.sold, got.returned = w.MonthlySaleCounts(1, 1, november)
	return got
}

func TestReportsOfALead(t *testing.T) {
	month := event.ResourcesFreedByReturn{Campaign: 1, Month: november}
	start := after{market.StatusAccepted, 0, 488, 1, 1, 0}
	for name, steps := range map[string][]struct {
		fact event.Event
		want after
	}{
		"it is contacted, qualified and sold": {
			{reported(event.ChangeDone, market.StatusContacted, event.ResourcesFreedByReturn{}), after{market.StatusContacted, 0, 488, 1, 1, 0}},
			{reported(event.ChangeNone, market.StatusContacted, event.ResourcesFreedByReturn{}), after{market.StatusContacted, 0, 488, 1, 1, 0}},
			{reported(event.ChangeDone, market.StatusQualified, event.ResourcesFreedByReturn{}), after{market.StatusQualified, 0, 488, 1, 1, 0}},
			{reported(event.ChangeNotAllowed, market.StatusContacted, event.ResourcesFreedByReturn{}), after{market.StatusQualified, 0, 488, 1, 1, 0}},
			{reported(event.ChangeDone, market.StatusSold, event.ResourcesFreedByReturn{}), after{market.StatusSold, 0, 488, 1, 1, 0}},
		},
		"what was refused changes nothing": {
			{reported(event.ChangeUnknown, market.StatusReturned, whole), start},
			{reported(event.ChangeNotAllowed, market.StatusReturned, whole), start},
			{reported(event.ChangeInvalid, market.StatusReturned, whole), start},
			{reported(event.ChangeNone, market.StatusReturned, whole), start},
		},
		"it comes back at once": {
			{reported(event.ChangeDone, market.StatusReturned, whole), after{market.StatusReturned, market.ReturnApproved, 500, 0, 1, 1}},
		},
		"it comes back, and the cap stays charged": {
			{
				reported(event.ChangeDone, market.StatusReturned, event.ResourcesFreedByReturn{Campaign: 1, Credit: red.Price, Month: november}),
				after{market.StatusReturned, market.ReturnApproved, 500, 1, 1, 1},
			},
		},
		"the operator takes it back": {
			{reported(event.ChangeDone, market.StatusSold, event.ResourcesFreedByReturn{}), after{market.StatusSold, 0, 488, 1, 1, 0}},
			{reported(event.ChangePending, market.StatusReturned, month), after{market.StatusSold, market.ReturnPending, 488, 1, 1, 1}},
			{decision(event.ChangeDone, whole), after{market.StatusReturned, market.ReturnApproved, 500, 0, 1, 1}},
		},
		"the operator refuses": {
			{reported(event.ChangePending, market.StatusReturned, month), after{market.StatusAccepted, market.ReturnPending, 488, 1, 1, 1}},
			{decision(event.ChangeRefused, month), after{market.StatusAccepted, market.ReturnRefused, 488, 1, 1, 0}},
			{reported(event.ChangeDone, market.StatusContacted, event.ResourcesFreedByReturn{}), after{market.StatusContacted, market.ReturnRefused, 488, 1, 1, 0}},
		},
		"a return that says no month is none": {
			{
				reported(event.ChangeDone, market.StatusReturned, event.ResourcesFreedByReturn{Campaign: 1, Credit: red.Price, Charges: red.Charges}),
				after{market.StatusReturned, market.ReturnApproved, 488, 1, 1, 0},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.fact(decided(red, event.PostIntent{}, 0))
			if got := w.after(); got != start {
				t.Fatalf("sold: %+v", got)
			}
			for i, step := range steps {
				w.fact(step.fact)
				again := &world{State: New()}
				replay(again.State, w.log, w.seq)
				for what, w := range map[string]*world{"live": w, "replayed": again, "after a snapshot": {State: rowsAhead(t, w)}} {
					if got := w.after(); got != step.want {
						t.Errorf("step %d, %s: %+v, want %+v", i, what, got, step.want)
					}
				}
			}
		})
	}
}

// What goes back to a cap goes to the window it was taken from, or to none.
func TestAReturnGivesTheCapBackInItsWindow(t *testing.T) {
	w := newWorld()
	charged := func(window int64) []event.CapCharge { return []event.CapCharge{{Cap: 1, Window: window, Amount: 1}} }
	sale := red
	sale.Charges = charged(monday)
	w.fact(decided(sale, event.PostIntent{}, 0))
	sale.Charges = charged(monday + day)
	w.fact(&event.LeadDecided{Lead: market.LeadID{2}, Campaign: 1, Supplier: 1, Decided: monday + day, Keep: monday + 90*day, Sale: sale})
	back := whole
	back.Charges = charged(monday)
	w.fact(reported(event.ChangeDone, market.StatusReturned, back))
	if used := w.caps.counterOf(1).used; used != 1 {
		t.Errorf("%d leads in the window, the one of the day before came back", used)
	}
}

// A report of many is found again by its key, wherever its leads are.
func TestAReportAnswersItsKey(t *testing.T) {
	w := newWorld()
	w.fact(&event.LeadStatusesChanged{
		Buyer: 1, Idempotency: event.RequestIdempotencyKey{Key: [16]byte{5}, Fingerprint: 9, ExpiresAt: monday + day},
		Changes: []event.LeadStatusChange{{Result: event.ChangeUnknown}, {Result: event.ChangeInvalid}},
	})
	again := New()
	replay(again, w.log, w.seq)
	for print, same := range map[uint64]bool{9: true, 8: false} {
		var h RequestReservations
		got := again.ClaimIdempotencyKey(&h, [16]byte{5}, print, monday)
		if got.Seq != w.seq || !got.Lead.IsZero() || got.SameBody != same || !got.IsUsed() {
			t.Errorf("body %d: %+v", print, got)
		}
	}
}

// Months count what buyers have, when the lead was decided, and not before they
// have it.
func TestMonthsCountWhatBuyersHave(t *testing.T) {
	december := market.StartOfUTCMonth(november + 32*day)
	delivered := settled(event.SettledDelivered, red)
	delivered.Decided = monday
	for name, test := range map[string]struct {
		facts []event.Event
		want  map[market.PermanentNumber]int64 // by buyer, of November
	}{
		"recorded":          {[]event.Event{decided(red, event.PostIntent{}, 0)}, map[market.PermanentNumber]int64{1: 1}},
		"on its way":        {[]event.Event{decided(red, way, 0)}, nil},
		"promised":          {[]event.Event{decided(red, way, 0), settled(event.SettledPending, red)}, nil},
		"nobody knows":      {[]event.Event{decided(red, way, 0), settled(event.SettledUnknown, red)}, nil},
		"delivered":         {[]event.Event{decided(red, way, 0), delivered}, map[market.PermanentNumber]int64{1: 1}},
		"refused":           {[]event.Event{decided(red, way, 0), refused(event.Sale{}, event.PostIntent{})}, nil},
		"recorded for next": {[]event.Event{decided(red, way, 0), refused(green, event.PostIntent{})}, map[market.PermanentNumber]int64{2: 1}},
		"sent to the next":  {[]event.Event{decided(red, way, 0), refused(green, way)}, nil},
		"unsold":            {[]event.Event{decided(event.Sale{}, event.PostIntent{}, market.ReasonNoBuyer)}, nil},
	} {
		w := newWorld()
		for _, fact := range test.facts {
			w.fact(fact)
			if settled, ok := fact.(*event.PostSettled); ok && settled.Decided != 0 {
				w.at = december // it is delivered much later than it was decided
			}
		}
		for buyer := market.PermanentNumber(1); buyer <= 2; buyer++ {
			if sold, _ := w.MonthlySaleCounts(1, buyer, november); sold != test.want[buyer] {
				t.Errorf("%s: buyer %d got %d leads in the month", name, buyer, sold)
			}
			if sold, _ := w.MonthlySaleCounts(1, buyer, december); sold != 0 {
				t.Errorf("%s: buyer %d got %d leads in the month after", name, buyer, sold)
			}
		}
	}
}

// A settlement of an old log does not say when its lead was decided: the month is
// that of the settlement.
func TestASettlementWithoutATimeCountsInItsOwnMonth(t *testing.T) {
	w := newWorld()
	w.fact(decided(red, way, 0))
	w.at += 40 * day
	w.fact(settled(event.SettledConfirmed, red))
	if sold, _ := w.MonthlySaleCounts(1, 1, market.StartOfUTCMonth(w.at)); sold != 1 {
		t.Errorf("%d leads in that month", sold)
	}
}

func TestMonthsOfLongAgoAreForgotten(t *testing.T) {
	w := newWorld()
	sell := func(at int64) { w.monthlySales.countSale(1, 1, at) }
	for n := range int64(60) {
		sell(monday + n*31*day)
	}
	if n := len(w.monthlySales.byKey); n < 23 || n > 26 {
		t.Errorf("%d months are kept", n)
	}
	sell(monday) // of a settlement that took five years
	if sold, _ := w.MonthlySaleCounts(1, 1, november); sold != 1 {
		t.Errorf("%d leads", sold)
	}
}
