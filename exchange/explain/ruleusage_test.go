package explain

import (
	"strings"
	"testing"
	"time"

	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/exclusion"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
	"pingpost/exchange/logtest"
)

// TestExplainCapAfterRefusal: buy_2 has the outcome of a full cap after buy_1 refused the lead. The cap
// that was full at the decision has precedence over one that is full later, and the charges of the
// refused sale are no use of a cap.
func TestExplainCapAfterRefusal(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		atDecision, atRefusal int64 // use of the buyer's cap of 1
		campaign              int64 // use of the campaign's cap of 10 by earlier leads
		meanwhile             int64 // use of the campaign's cap by other leads between decision and refusal
		yesterday             bool  // the refused sale was charged to the day before
		forgotten             bool  // the log is too long for the search
		want                  string
	}{
		"full at the decision":                {atDecision: 1, campaign: 9, want: "cap of buyer buy_2: required at most 1 leads in total, got 1 used and 1 needed (reconstructed)"},
		"full at the refusal":                 {atRefusal: 1, campaign: 9, want: "cap of buyer buy_2: required at most 1 leads in total, got 1 used and 1 needed (reconstructed)"},
		"the campaign's full at the decision": {atRefusal: 1, campaign: 10, meanwhile: 1, want: "cap of campaign cmp: required at most 10 leads per day, got 10 used and 1 needed (reconstructed)"},
		"the campaign's full later":           {atDecision: 1, campaign: 9, meanwhile: 1, want: "cap of buyer buy_2: required at most 1 leads in total, got 1 used and 1 needed (reconstructed)"},
		"both full at the refusal":            {atRefusal: 1, campaign: 9, meanwhile: 1, want: "cap of campaign cmp: required at most 10 leads per day, got 10 used and 1 needed (reconstructed)"},
		"charged to an earlier day":           {campaign: 9, meanwhile: 1, yesterday: true, want: "cap of campaign cmp: required at most 10 leads per day, got 10 used and 1 needed (reconstructed)"},
		"both free":                           {campaign: 9, want: "cap: required free capacity in all caps, got an unknown value"},
		"unknown":                             {atDecision: 1, campaign: 9, forgotten: true, want: "cap: required free capacity in all caps, got an unknown value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			campaign := newCampaign(t, market.Waterfall)
			ofCampaign := &market.Cap{Ref: 1, Scope: market.ScopeCampaign, Unit: market.UnitCount, Period: calendar.Day, Zone: time.UTC, Limit: 10}
			ofBuyer := &market.Cap{Ref: 2, Scope: market.ScopeBuyer, Unit: market.UnitCount, Period: calendar.Total, Zone: time.UTC, Limit: 1}
			campaign.Caps, campaign.FilterSets[1].Buyer.Caps = []*market.Cap{ofCampaign}, []*market.Cap{ofBuyer}
			c := newHistoryOf(t, campaign)
			c.Add(&event.ConfigObjectNumbersAssigned{Caps: []event.CapNumberAssignment{
				{Ref: 1, Key: market.CapKey{Scope: market.ScopeCampaign, Campaign: 1, Unit: market.UnitCount, Period: calendar.Day, Zone: "UTC"}},
				{Ref: 2, Key: market.CapKey{Scope: market.ScopeBuyer, Buyer: 2, Unit: market.UnitCount, Period: calendar.Total, Zone: "UTC"}},
			}})
			day, _ := calendar.Day.WindowContaining(c.Now, time.UTC)
			total, _ := calendar.Total.WindowContaining(c.Now, time.UTC)
			number := byte(9)
			use := func(limit market.PermanentNumber, window, amount int64) {
				if amount == 0 {
					return
				}
				number++
				sale := logtest.SaleTo(3)
				sale.Charges = []event.CapCharge{{Cap: limit, Window: window, Amount: amount}}
				c.Add(&event.LeadDecided{Lead: c.NewLeadID(number), Campaign: 1, Supplier: 1, Catalog: 1, Decided: c.Now, Keep: c.Now + int64(time.Hour), Sale: sale})
				c.AdvanceClock(time.Second)
			}
			use(1, day, row.campaign)
			use(2, total, row.atDecision)
			id, sale := c.NewLeadID(1), logtest.SaleTo(1)
			sale.Charges = []event.CapCharge{{Cap: 1, Window: day, Amount: 1}}
			if row.yesterday {
				sale.Charges[0].Window -= int64(24 * time.Hour)
			}
			c.Add(&event.LeadDecided{
				Lead: id, Campaign: 1, Supplier: 1, Catalog: 1, Decided: c.Now, Keep: c.Now + int64(time.Hour), Sale: sale,
				Post:  event.PostIntent{URL: "https://buyer.example", Timeout: 1e9},
				Trail: []event.FilterSetsWithOutcome{{Outcome: market.OutcomePostPending, FilterSets: bitset.Set{1}}},
			})
			c.AdvanceClock(time.Second)
			use(1, day, row.meanwhile)
			use(2, total, row.atRefusal)
			c.AddPostResult(id, event.SettledRefused, func(s *event.PostSettled) {
				s.Sale, s.Reason = sale, market.ReasonPostRejected
				s.Trail = []event.FilterSetsWithOutcome{{Outcome: market.OutcomePostRejected, FilterSets: bitset.Set{1}}, {Outcome: market.OutcomeCapped, FilterSets: bitset.Set{2}}}
			})
			if row.forgotten {
				c.limits.entries = 2
			}
			doc := c.mustExplainLead(id)
			var rule *exclusion.UnmetRule
			for i := range doc.Candidates {
				if doc.Candidates[i].Buyer == "buy_2" {
					rule = doc.Candidates[i].Rule
				}
			}
			if rule == nil {
				t.Fatalf("no rule: %s", doc.outcomesText())
			}
			if got, _, _ := strings.Cut(rule.Text, ", in the window"); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}
