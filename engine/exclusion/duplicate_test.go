package exclusion

import (
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
)

// TestDuplicateRuleNamesScope: the rule names the campaigns with which a lead is compared.
func TestDuplicateRuleNamesScope(t *testing.T) {
	rule := market.DuplicateRule{Phone: true, Window: int64(time.Hour)}
	group, exchange := rule, rule
	group.Shared, group.Group, exchange.Shared = true, "auto", true
	for want, duplicates := range map[string]market.DuplicateRule{"the campaign": rule, "duplicate group auto": group, "the exchange": exchange} {
		d := &DecisionInputs{Campaign: &market.Campaign{Duplicates: duplicates}, DuplicateOf: func(*market.Buyer) (market.LeadID, ActualValueBasis) {
			return market.LeadID{1}, ""
		}}
		got := d.UnmetCampaignRule(market.ReasonDuplicate)
		if !strings.HasPrefix(got.Wanted, "no lead of "+want+" with") || !strings.HasPrefix(got.Text, "duplicate: "+want+" already has") {
			t.Errorf("%s: %+v", want, got)
		}
	}
}
