package config

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pingpost/engine/market"
)

// documentWithSupplierFilters returns a campaign of suppliers a, b and c with the keys of a buyer and of
// its entry.
func documentWithSupplierFilters(campaign, buyer, entry string) string {
	return "{suppliers: [{id: a}, {id: b}, {id: c}], buyers: [{id: buy, endpoint: \"https://b.example\", " + buyer + "}], " +
		"campaigns: [{id: cmp, method: waterfall, " + campaign + " buyers: [{buyer: buy, price: 1, " + entry + "}]}]}\n"
}

// TestSupplierFilters: the entry narrows the suppliers of the buyer.
func TestSupplierFilters(t *testing.T) {
	for _, row := range []struct{ campaign, buyer, entry, accepted, warning string }{
		{"", "", "", "abc", ""},
		{"", "suppliers: [a, b]", "", "ab", ""},
		{"", "suppliers: [a, b]", "suppliers: [b, c]", "b", ""},
		{"", "not_suppliers: [a]", "not_suppliers: [b]", "c", ""},
		{"", "suppliers: [a, b]", "not_suppliers: [b]", "a", ""},
		{"", "suppliers: [a]", "suppliers: [b]", "", "accepts no supplier of the campaign"},
		{"", "suppliers: [a]", "not_suppliers: [a]", "", "accepts no supplier of the campaign"},
		{"suppliers: [a, b],", "suppliers: [c]", "", "c", "accepts no supplier of the campaign"},
		{"suppliers: [a, b],", "", "not_suppliers: [a]", "bc", ""},
	} {
		built := compileText(t, documentWithSupplierFilters(row.campaign, row.buyer, row.entry), nil)
		set, accepted := &built.Catalog.Campaigns["cmp"].FilterSets[0], ""
		for _, id := range slices.Sorted(maps.Keys(built.Catalog.Suppliers)) {
			if set.AcceptsSupplier(id) {
				accepted += string(id)
			}
		}
		if accepted != row.accepted || !set.AcceptsSupplier("other") != (set.Suppliers != nil) {
			t.Errorf("%+v: accepts %q", row, accepted)
		}
		got := ""
		if len(built.Warnings) > 0 {
			got = built.Warnings[0].Error()
		}
		if (got == "") != (row.warning == "") || !strings.Contains(got, row.warning) || got != "" && !strings.Contains(got, "campaigns[0].buyers[0]") {
			t.Errorf("%+v: warning %q", row, got)
		}
	}
	both := supplierFilter{only: setOf[market.SupplierID]([]string{"a"}), not: setOf[market.SupplierID]([]string{"b"})}
	if same := both.intersect(supplierFilter{}); len(same.only) != 1 || len(same.not) != 1 {
		t.Errorf("%+v", same)
	}
}

func TestInvalidSupplierFilters(t *testing.T) {
	checkProblems(t, []invalidDocument{
		{"unknown supplier of a buyer", documentWithSupplierFilters("", "suppliers: [x]", ""), "buyers[0].suppliers[0]", "there is no supplier"},
		{"unknown excluded supplier", documentWithSupplierFilters("", "", "not_suppliers: [a, x]"), "campaigns[0].buyers[0].not_suppliers[1]", "there is no supplier"},
		{"a supplier twice", documentWithSupplierFilters("", "", "suppliers: [a, a]"), "campaigns[0].buyers[0].suppliers[1]", "is the same as"},
		{"accepted and excluded", documentWithSupplierFilters("", "suppliers: [a, b], not_suppliers: [b]", ""), "buyers[0].not_suppliers[0]", "is in suppliers too"},
	})
}
