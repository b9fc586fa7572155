package state

import (
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

var november = market.StartOfUTCMonth(monday)

// statusReported returns a buyer's report on testLead.
func statusReported(result event.LeadStatusChangeResult, to market.LeadStatus, back event.MoneyAndCapsReversedByReturn) *event.LeadStatusChangesDecided {
	return &event.LeadStatusChangesDecided{Buyer: 1, At: monday, Changes: []event.DecidedLeadStatusChange{{
		Lead: testLead, Result: result, To: to, Return: back, Supplier: 1,
	}}}
}

// returnDecided returns an operator's decision on a pending return.
func returnDecided(result event.LeadStatusChangeResult, back event.MoneyAndCapsReversedByReturn) *event.LeadStatusChangesDecided {
	ev := statusReported(result, market.StatusReturned, back)
	ev.Changes[0].WasPending = true
	return ev
}

// fullReturn returns the price to red, and the sale to its cap.
var fullReturn = event.MoneyAndCapsReversedByReturn{Campaign: 1, Credit: redSale.Price, Reverse: redSale.Payout, Charges: redSale.Charges, Month: november}

// reportView is the state that reports can change.
type reportView struct {
	status         market.LeadStatus
	back           market.ReturnState
	balance        market.Money // in dollars
	used           int64        // of the cap by count
	sold, returned int64
}

func (x *testExchange) reportView() reportView {
	lead, _ := x.LeadInMemory(testLead)
	balance, _ := x.BuyerBalance(1)
	got := reportView{status: lead.Status, back: lead.ReturnState(), balance: balance / dollar, used: x.caps.mustFindCounter(3).used}
	got.sold, got.returned = x.MonthlySaleCounts(1, 1, november)
	return got
}

func TestStatusReportsChangeLead(t *testing.T) {
	month := event.MoneyAndCapsReversedByReturn{Campaign: 1, Month: november}
	start := reportView{market.StatusAccepted, 0, 488, 1, 1, 0}
	for name, steps := range map[string][]struct {
		event event.Event
		want  reportView
	}{
		"contacted, qualified and sold": {
			{statusReported(event.ChangeDone, market.StatusContacted, event.MoneyAndCapsReversedByReturn{}), reportView{market.StatusContacted, 0, 488, 1, 1, 0}},
			{statusReported(event.ChangeNone, market.StatusContacted, event.MoneyAndCapsReversedByReturn{}), reportView{market.StatusContacted, 0, 488, 1, 1, 0}},
			{statusReported(event.ChangeDone, market.StatusQualified, event.MoneyAndCapsReversedByReturn{}), reportView{market.StatusQualified, 0, 488, 1, 1, 0}},
			{statusReported(event.ChangeNotAllowed, market.StatusContacted, event.MoneyAndCapsReversedByReturn{}), reportView{market.StatusQualified, 0, 488, 1, 1, 0}},
			{statusReported(event.ChangeDone, market.StatusSold, event.MoneyAndCapsReversedByReturn{}), reportView{market.StatusSold, 0, 488, 1, 1, 0}},
		},
		"rejected reports": {
			{statusReported(event.ChangeUnknown, market.StatusReturned, fullReturn), start},
			{statusReported(event.ChangeNotAllowed, market.StatusReturned, fullReturn), start},
			{statusReported(event.ChangeInvalid, market.StatusReturned, fullReturn), start},
			{statusReported(event.ChangeNone, market.StatusReturned, fullReturn), start},
		},
		"returned": {
			{statusReported(event.ChangeDone, market.StatusReturned, fullReturn), reportView{market.StatusReturned, market.ReturnApproved, 500, 0, 1, 1}},
		},
		"returned, the cap stays charged": {
			{
				statusReported(event.ChangeDone, market.StatusReturned, event.MoneyAndCapsReversedByReturn{Campaign: 1, Credit: redSale.Price, Month: november}),
				reportView{market.StatusReturned, market.ReturnApproved, 500, 1, 1, 1},
			},
		},
		"the operator approves the return": {
			{statusReported(event.ChangeDone, market.StatusSold, event.MoneyAndCapsReversedByReturn{}), reportView{market.StatusSold, 0, 488, 1, 1, 0}},
			{statusReported(event.ChangePending, market.StatusReturned, month), reportView{market.StatusSold, market.ReturnPending, 488, 1, 1, 1}},
			{returnDecided(event.ChangeDone, fullReturn), reportView{market.StatusReturned, market.ReturnApproved, 500, 0, 1, 1}},
		},
		"the operator refuses the return": {
			{statusReported(event.ChangePending, market.StatusReturned, month), reportView{market.StatusAccepted, market.ReturnPending, 488, 1, 1, 1}},
			{returnDecided(event.ChangeRefused, month), reportView{market.StatusAccepted, market.ReturnRefused, 488, 1, 1, 0}},
			{statusReported(event.ChangeDone, market.StatusContacted, event.MoneyAndCapsReversedByReturn{}), reportView{market.StatusContacted, market.ReturnRefused, 488, 1, 1, 0}},
		},
		"return without a month": {
			{
				statusReported(event.ChangeDone, market.StatusReturned, event.MoneyAndCapsReversedByReturn{Campaign: 1, Credit: redSale.Price, Charges: redSale.Charges}),
				reportView{market.StatusReturned, market.ReturnApproved, 488, 1, 1, 0},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTestExchange()
			x.logAndApply(leadDecided(redSale, event.PostIntent{}, 0))
			if got := x.reportView(); got != start {
				t.Fatalf("after the sale: got %+v, want %+v", got, start)
			}
			for i, step := range steps {
				x.logAndApply(step.event)
				restored := &testExchange{State: New()}
				replay(restored.State, x.log, x.seq)
				for what, x := range map[string]*testExchange{"live": x, "replayed": restored, "after a snapshot": {State: loadWithNewerRows(t, x)}} {
					if got := x.reportView(); got != step.want {
						t.Errorf("step %d, %s: %+v, want %+v", i, what, got, step.want)
					}
				}
			}
		})
	}
}

// A return frees the cap in the window of the sale, or not at all.
func TestReturnFreesCapOnlyInItsWindow(t *testing.T) {
	x := newTestExchange()
	charged := func(window int64) []event.CapCharge { return []event.CapCharge{{Cap: 1, Window: window, Amount: 1}} }
	sale := redSale
	sale.Charges = charged(monday)
	x.logAndApply(leadDecided(sale, event.PostIntent{}, 0))
	sale.Charges = charged(monday + day)
	x.logAndApply(&event.LeadDecided{Lead: market.LeadID{2}, Campaign: 1, Supplier: 1, Decided: monday + day, Keep: monday + 90*day, Sale: sale})
	back := fullReturn
	back.Charges = charged(monday)
	x.logAndApply(statusReported(event.ChangeDone, market.StatusReturned, back))
	if used := x.caps.mustFindCounter(1).used; used != 1 {
		t.Errorf("%d leads in the window after a return of the day before, want 1", used)
	}
}

// The key of a report finds it, although its leads do not exist.
func TestReportIsFoundByIdempotencyKey(t *testing.T) {
	x := newTestExchange()
	x.logAndApply(&event.LeadStatusChangesDecided{
		Buyer: 1, Idempotency: event.RequestIdempotencyKey{Key: [16]byte{5}, Fingerprint: 9, ExpiresAt: monday + day},
		Changes: []event.DecidedLeadStatusChange{{Result: event.ChangeUnknown}, {Result: event.ChangeInvalid}},
	})
	restored := New()
	replay(restored, x.log, x.seq)
	for print, same := range map[uint64]bool{9: true, 8: false} {
		var h RequestReservations
		got := restored.mustClaimIdempotencyKey(&h, [16]byte{5}, print, monday)
		if got.Seq != x.seq || !got.Lead.IsZero() || got.SameBody != same || !got.IsUsed() {
			t.Errorf("body %d: %+v", print, got)
		}
	}
}

// A month counts a lead once a buyer has it, in the month of its decision.
func TestMonthlyCountsOfDeliveredLeads(t *testing.T) {
	december := market.StartOfUTCMonth(november + 32*day)
	delivered := postSettled(event.SettledDelivered, redSale)
	delivered.Decided = monday
	for name, test := range map[string]struct {
		events []event.Event
		want   map[market.PermanentNumber]int64 // by buyer, of November
	}{
		"recorded":          {[]event.Event{leadDecided(redSale, event.PostIntent{}, 0)}, map[market.PermanentNumber]int64{1: 1}},
		"posted":            {[]event.Event{leadDecided(redSale, intent, 0)}, nil},
		"promised":          {[]event.Event{leadDecided(redSale, intent, 0), postSettled(event.SettledPending, redSale)}, nil},
		"unknown":           {[]event.Event{leadDecided(redSale, intent, 0), postSettled(event.SettledUnknown, redSale)}, nil},
		"delivered":         {[]event.Event{leadDecided(redSale, intent, 0), delivered}, map[market.PermanentNumber]int64{1: 1}},
		"refused":           {[]event.Event{leadDecided(redSale, intent, 0), postRefused(event.Sale{}, event.PostIntent{})}, nil},
		"recorded for next": {[]event.Event{leadDecided(redSale, intent, 0), postRefused(greenSale, event.PostIntent{})}, map[market.PermanentNumber]int64{2: 1}},
		"sent to the next":  {[]event.Event{leadDecided(redSale, intent, 0), postRefused(greenSale, intent)}, nil},
		"unsold":            {[]event.Event{leadDecided(event.Sale{}, event.PostIntent{}, market.ReasonNoBuyer)}, nil},
	} {
		x := newTestExchange()
		for _, ev := range test.events {
			x.logAndApply(ev)
			if settled, ok := ev.(*event.PostSettled); ok && settled.Decided != 0 {
				x.at = december // delivered long after the decision
			}
		}
		for buyer := market.PermanentNumber(1); buyer <= 2; buyer++ {
			if sold, _ := x.MonthlySaleCounts(1, buyer, november); sold != test.want[buyer] {
				t.Errorf("%s: buyer %d has %d leads in the month", name, buyer, sold)
			}
			if sold, _ := x.MonthlySaleCounts(1, buyer, december); sold != 0 {
				t.Errorf("%s: buyer %d has %d leads in the month after", name, buyer, sold)
			}
		}
	}
}

// A settlement of an old log has no time of the decision, so its own month counts the lead.
func TestOldSettlementCountsInItsOwnMonth(t *testing.T) {
	x := newTestExchange()
	x.logAndApply(leadDecided(redSale, intent, 0))
	x.at += 40 * day
	x.logAndApply(postSettled(event.SettledConfirmed, redSale))
	if sold, _ := x.MonthlySaleCounts(1, 1, market.StartOfUTCMonth(x.at)); sold != 1 {
		t.Errorf("%d leads in the settlement's month, want 1", sold)
	}
}

func TestOldMonthsAreForgotten(t *testing.T) {
	x := newTestExchange()
	sell := func(at int64) { x.monthlySales.countSale(1, 1, at) }
	for n := range int64(60) {
		sell(monday + n*31*day)
	}
	if n := len(x.monthlySales.byKey); n < 23 || n > 26 {
		t.Errorf("%d months are kept, want about 24", n)
	}
	sell(monday) // a settlement after five years
	if sold, _ := x.MonthlySaleCounts(1, 1, november); sold != 1 {
		t.Errorf("%d leads", sold)
	}
}
