package explain

import (
	"strings"
	"testing"
	"time"

	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
	"pingpost/exchange/logtest"
)

// TestExplainTerms: the rules of a lead have the floor and the caps of the terms that apply to its source.
func TestExplainTerms(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		source, outcome string
		want            string // of buy_1
		terms           string
	}{
		"floor of the terms":    {"facebook", "below_floor", "price: required at least the floor of 9 USD in terms social, got 3 USD", "social"},
		"floor of the campaign": {"google", "below_floor", "price: required at least the floor of 5 USD, got 3 USD", ""},
		"cap of the terms":      {"facebook", "capped", "cap of terms social of campaign cmp: required at most 1 leads per day, got 1 used and 1 needed (reconstructed)", "social"},
		"supplier":              {"", "filtered", "supplier: required none of sup, got sup", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			campaign := newCampaign(t, market.Waterfall)
			limit := &market.Cap{Ref: 1, Scope: market.ScopeTerms, Unit: market.UnitCount, Period: calendar.Day, Zone: time.UTC, Limit: 1}
			campaign.Floor, campaign.FilterSets[0].Price = 5_000_000, 3_000_000
			campaign.FilterSets[0].NotSuppliers = map[market.SupplierID]struct{}{"sup": {}}
			campaign.Terms = []market.Terms{{ID: "social", Sources: map[string]struct{}{"facebook": {}}, Floor: 9_000_000, Caps: []*market.Cap{limit}}}
			c := newHistoryOf(t, campaign)
			c.Add(&event.ConfigObjectNumbersAssigned{Caps: []event.CapNumberAssignment{
				{Ref: 1, Key: market.CapKey{Scope: market.ScopeTerms, Campaign: 1, Unit: market.UnitCount, Period: calendar.Day, Zone: "UTC", Entry: "social"}},
			}})
			window, _ := calendar.Day.WindowContaining(c.Now, time.UTC)
			sale := logtest.SaleTo(3)
			sale.Charges = []event.CapCharge{{Cap: 1, Window: window, Amount: 1}}
			c.Add(&event.LeadDecided{Lead: c.NewLeadID(9), Campaign: 1, Supplier: 1, Catalog: 1, Decided: c.Now, Keep: c.Now + int64(time.Hour), Sale: sale})
			c.AdvanceClock(time.Second)
			outcome := map[string]market.BuyerOutcome{"below_floor": market.OutcomeBelowFloor, "capped": market.OutcomeCapped, "filtered": market.OutcomeFiltered}[row.outcome]
			decided := &event.LeadDecided{
				Lead: c.NewLeadID(1), Campaign: 1, Supplier: 1, Catalog: 1, Decided: c.Now, Keep: c.Now + int64(time.Hour), Reason: outcome.UnsoldReasonForSupplier(),
				Trail: []event.FilterSetsWithOutcome{{Outcome: outcome, FilterSets: bitset.Set{1}}},
			}
			if row.source != "" {
				decided.Fields = []event.LeadField{{Name: "source", Kind: market.KindString, Text: []byte(row.source)}}
			}
			c.Add(decided)
			doc := c.mustExplainLead(decided.Lead)
			if len(doc.Candidates) == 0 || doc.Candidates[0].Rule == nil {
				t.Fatalf("no rule: %s", doc.outcomesText())
			}
			if got, _, _ := strings.Cut(doc.Candidates[0].Rule.Text, ", in the window"); got != row.want || doc.Terms != row.terms {
				t.Errorf("got  %s, terms %q\nwant %s, terms %q", got, doc.Terms, row.want, row.terms)
			}
		})
	}
}
