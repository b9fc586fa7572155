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
