package config

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/engine/market"
)

// documentWithTerms returns a campaign of suppliers a and b, in which one buyer buys for 10.
func documentWithTerms(campaign, terms string) string {
	return `{suppliers: [{id: a}, {id: b}], buyers: [{id: buy, endpoint: "https://b.example"}], campaigns: [{id: cmp, method: waterfall, ` +
		campaign + ` terms: [` + terms + `], buyers: [{buyer: buy, price: 10}]}]}` + "\n"
}

// TestTerms: omitted values are those of the campaign.
func TestTerms(t *testing.T) {
	c := compileText(t, documentWithTerms("floor: 4, payout: {share: 0.5}, time_zone: Asia/Kolkata,",
		`{id: one, suppliers: [a], sources: [x, y], floor: 0, payout: {fixed: 3}, caps: [{per: day, count: 2}, {per: day, money: 9, time_zone: UTC}]}, {id: two}, {id: three, payout: {}}`), nil).Catalog.Campaigns["cmp"]
	one, two, three := &c.Terms[0], &c.Terms[1], &c.Terms[2]
	half := market.PayoutRule{Share: 500_000}
	checkAll(t, c.Terms, map[string]bool{
		"one":   one.ID == "one" && len(one.Suppliers) == 1 && len(one.Sources) == 2 && one.Floor == 0 && one.Payout == market.PayoutRule{Fixed: 3_000_000, IsFixed: true},
		"caps":  len(one.Caps) == 2 && one.Caps[0].Scope == market.ScopeTerms && one.Caps[0].Zone.String() == "Asia/Kolkata" && one.Caps[1].Zone.String() == "UTC",
		"two":   two.Suppliers == nil && two.Sources == nil && two.Floor == 4_000_000 && two.Payout == half && two.Caps == nil,
		"three": three.Payout == market.PayoutRule{Share: market.WholeShare},
	})
}

func TestTermsWarnings(t *testing.T) {
	for name, row := range map[string]struct {
		campaign, terms string
		want            []string // path and part of each warning
	}{
		"other suppliers":             {"", "{id: x, suppliers: [a]}, {id: y, suppliers: [b]}", nil},
		"from special to general":     {"", "{id: x, suppliers: [a], sources: [s]}, {id: y, suppliers: [a]}, {id: z}", nil},
		"the same leads":              {"", "{id: x, sources: [s, r]}, {id: y, sources: [r]}", []string{"campaigns[0].terms[1]: never applies, because terms[0] applies"}},
		"after all leads":             {"", "{id: x}, {id: y, suppliers: [a], sources: [s]}", []string{"campaigns[0].terms[1]: never applies"}},
		"more leads":                  {"", "{id: x, suppliers: [a]}, {id: y, suppliers: [a, b]}", nil},
		"a supplier of no lead":       {"suppliers: [a],", "{id: x, suppliers: [a, b]}", []string{"campaigns[0].terms[0].suppliers[1]: may not send leads"}},
		"a star":                      {"", `{id: x, sources: ["fb_*"]}`, []string{"campaigns[0].terms[0].sources[0]: has a *"}},
		"a floor above the prices":    {"", "{id: x, suppliers: [a], floor: 10}, {id: y, floor: 11}", []string{"campaigns[0].terms[1]: has a floor or a fixed payout that is higher"}},
		"a payout above the prices":   {"", "{id: x, suppliers: [a], payout: {fixed: 11}}", []string{"campaigns[0].terms[0]: has a floor or a fixed payout that is higher"}},
		"a lower floor than the rest": {"floor: 12,", "{id: x, suppliers: [a], floor: 9}", nil},
		"a lower payout":              {"payout: {fixed: 12},", "{id: x, suppliers: [a], payout: {fixed: 9}}", nil},
	} {
		warnings := compileText(t, documentWithTerms(row.campaign, row.terms), nil).Warnings
		if len(warnings) != len(row.want) {
			t.Errorf("%s: %v, want %q", name, warnings, row.want)
			continue
		}
		for i, want := range row.want {
			if got := warnings[i].Error(); !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
	auction := strings.Replace(documentWithTerms("vertical: v, floor: 3,", "{id: x, suppliers: [a], floor: 0}, {id: y}"), "waterfall", "ping_post", 1)
	if warnings := compileText(t, auction, nil).Warnings; len(warnings) != 1 || !strings.Contains(warnings[0].Error(), "campaigns[0].terms[0].floor: is 0") {
		t.Errorf("an auction without a floor: %v", warnings)
	}
}

func TestInvalidTerms(t *testing.T) {
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprintf("{id: t%d, sources: [s%d]}", i, i)
	}
	valid := "{id: x, suppliers: [a]}"
	checkProblems(t, []invalidDocument{
		{"no id", documentWithTerms("", "{suppliers: [a]}"), "campaigns[0].terms[0].id", "is missing"},
		{"an id twice", documentWithTerms("", valid+", {id: x}"), "campaigns[0].terms[1].id", "is the same as campaigns[0].terms[0].id"},
		{"unknown supplier", documentWithTerms("", "{id: x, suppliers: [c]}"), "campaigns[0].terms[0].suppliers[0]", "there is no supplier"},
		{"an empty source", documentWithTerms("", `{id: x, sources: [""]}`), "campaigns[0].terms[0].sources[0]", "is empty"},
		{"two payouts", documentWithTerms("", "{id: x, payout: {share: 1, fixed: 1}}"), "campaigns[0].terms[0].payout", "not both"},
		{"two equal caps", documentWithTerms("", "{id: x, caps: [{per: day, count: 1}, {per: day, count: 2}]}"), "campaigns[0].terms[0].caps[1]", "limits the same unit and period"},
		{"too many", documentWithTerms("", strings.Join(many, ", ")), "campaigns[0].terms", "at most 100"},
		{"a price below all floors", documentWithTerms("floor: 12,", "{id: x, suppliers: [a], floor: 11}"), "campaigns[0].buyers[0].price", "below the campaign's floor"},
		{"a payout above all prices", documentWithTerms("payout: {fixed: 12},", "{id: x, suppliers: [a], payout: {fixed: 11}}"), "campaigns[0].payout.fixed", "higher than all prices"},
	})
}
