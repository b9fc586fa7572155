package exclusion

import (
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// TestRuleOfFirstFullCheck: the rule names the first cap that was full at the earliest check. A check
// after one with unknown values names no other cap, and no other amount of money.
func TestRuleOfFirstFullCheck(t *testing.T) {
	newCap := func(number market.PermanentNumber, scope market.CapScope) *market.Cap {
		return &market.Cap{Ref: number, Scope: scope, Unit: market.UnitCount, Period: calendar.Total, Zone: time.UTC, Limit: 10}
	}
	buyer := &market.Buyer{ID: "buy", Caps: []*market.Cap{newCap(2, market.ScopeBuyer)}}
	campaign := &market.Campaign{ID: "cmp", Currency: market.Currency{'U', 'S', 'D'}, Caps: []*market.Cap{newCap(1, market.ScopeCampaign)}, FilterSets: []market.FilterSet{{Buyer: buyer, Price: 5_000_000}}}
	free, full := &CapUsage{Used: 9}, &CapUsage{Used: 10}
	const ofCampaign, ofBuyer, anyCap = "cap of campaign cmp: ", "cap of buyer buy: ", "cap: "
	const is10, unknown = "required at most 10 leads in total, got 10 used and 1 needed (reconstructed)", "required at most 10 leads in total, got an unknown value"
	for _, test := range []struct {
		campaign, buyer []*CapUsage
		want            string
	}{
		{[]*CapUsage{full}, []*CapUsage{full}, ofCampaign + is10},
		{[]*CapUsage{free, full}, []*CapUsage{full, full}, ofBuyer + is10},
		{[]*CapUsage{free, full}, []*CapUsage{free, full}, ofCampaign + is10},
		{[]*CapUsage{nil, full}, []*CapUsage{full, full}, ofBuyer + is10},
		{[]*CapUsage{nil, free}, []*CapUsage{free, full}, ofCampaign + unknown},
		{[]*CapUsage{nil, full}, []*CapUsage{nil, full}, anyCap + "required free capacity in all caps, got an unknown value"},
		{[]*CapUsage{free}, []*CapUsage{free}, anyCap + "required free capacity in all caps, got an unknown value"},
		{nil, nil, anyCap + "required free capacity in all caps, got an unknown value"},
	} {
		d := &DecisionInputs{Campaign: campaign, CapUsages: func(limit *market.Cap) []*CapUsage {
			if limit.Scope == market.ScopeCampaign {
				return test.campaign
			}
			return test.buyer
		}}
		if got := d.UnmetRuleFor(0, market.OutcomeCapped, nil).Text; got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
	rich, poor := &Funds{Balance: 9_000_000}, &Funds{Balance: 9_000_000, Held: 7_000_000}
	for _, test := range []struct {
		funds []*Funds
		want  string
	}{
		{[]*Funds{poor}, "got 2 USD (reconstructed): balance 9 USD, held 7 USD, credit 0 USD"},
		{[]*Funds{rich, poor}, "got 2 USD (reconstructed): balance 9 USD, held 7 USD, credit 0 USD"},
		{[]*Funds{nil, poor}, "got an unknown value"},
		{[]*Funds{rich}, "got an unknown value"},
		{nil, "got an unknown value"},
	} {
		d := &DecisionInputs{Campaign: campaign, Funds: func(*market.Buyer) []*Funds { return test.funds }}
		if got := d.UnmetRuleFor(0, market.OutcomeNoFunds, nil).Text; !strings.HasSuffix(got, ", "+test.want) {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

// TestRuleWithModifiers: a rule names the limit and the price in force at its check, with the modifier.
// At 10:00 of the decision a modifier is in force, at 12:00 of the last change another one.
func TestRuleWithModifiers(t *testing.T) {
	during := func(lines string) *calendar.WeeklySchedule {
		s, err := calendar.ParseWeeklySchedule(time.UTC, []string{lines})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	limit := &market.Cap{Ref: 1, Scope: market.ScopePair, Unit: market.UnitMoney, Period: calendar.Total, Zone: time.UTC, Limit: 40_000_000}
	campaign := &market.Campaign{ID: "cmp", Currency: market.Currency{'U', 'S', 'D'}, Floor: 5_000_000, FilterSets: []market.FilterSet{{
		Buyer: &market.Buyer{ID: "buy"}, Price: 10_000_000, Caps: []*market.Cap{limit},
		Modifiers: []market.Modifier{{During: during("Mon 10:00-11:00"), Price: 2_000_000, Caps: 500_000}, {During: during("Mon 12:00-13:00"), Price: 400_000, Caps: 0}},
	}}}
	monday := time.Date(2026, time.November, 30, 0, 0, 0, 0, time.UTC)
	at := func(hour int) int64 { return monday.Add(time.Duration(hour) * time.Hour).UnixNano() }
	const halved, doubled, closed = "required at most 20 USD in total (40 USD × 0.5 during Mon 10:00-11:00 UTC), got ", "20 USD needed", "modifier of caps in the campaign: required a factor above 0, got 0 during Mon 12:00-13:00 UTC"
	for _, test := range []struct {
		outcome  market.BuyerOutcome
		instants []int64
		used     []market.Money
		want     string
	}{
		{market.OutcomeCapped, []int64{at(10)}, []market.Money{1_000_000}, halved + "1 USD used and " + doubled},
		{market.OutcomeCapped, []int64{at(9)}, []market.Money{31_000_000}, "required at most 40 USD in total, got 31 USD used and 10 USD needed"},
		{market.OutcomeCapped, []int64{at(10), 0, at(12)}, []market.Money{0, 0}, "required at most 0 USD in total (40 USD × 0 during Mon 12:00-13:00 UTC), got 0 USD used and 4 USD needed"},
		{market.OutcomeCapped, []int64{at(12)}, nil, closed},
		{market.OutcomeCapped, []int64{at(10)}, nil, halved + "an unknown value"},
		{market.OutcomeNoFunds, []int64{at(10)}, nil, "funds: required at least 20 USD, got an unknown value"},
		{market.OutcomeBelowFloor, []int64{at(12)}, nil, "price: required at least the floor of 5 USD, got 4 USD (10 USD × 0.4 during Mon 12:00-13:00 UTC)"},
		{market.OutcomeBelowFloor, []int64{at(10), 0, at(12)}, nil, "price: required at least the floor of 5 USD, got 4 USD (10 USD × 0.4 during Mon 12:00-13:00 UTC)"},
	} {
		d := &DecisionInputs{Campaign: campaign, Instants: test.instants, CapUsages: func(*market.Cap) (usages []*CapUsage) {
			for _, used := range test.used {
				usages = append(usages, &CapUsage{Used: int64(used)})
			}
			return usages
		}}
		if got := d.UnmetRuleFor(0, test.outcome, nil).Text; !strings.Contains(got, test.want) {
			t.Errorf("%s at %v:\n got %s\nwant %s", test.outcome, test.instants, got, test.want)
		}
	}
}
