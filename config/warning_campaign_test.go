package config

import (
	"strings"
	"testing"
)

// TestAuctionWarnings covers bid timeouts longer than the auction and auctions without a floor.
func TestAuctionWarnings(t *testing.T) {
	for name, row := range map[string]struct {
		method, keys string
		want         []string // part of each warning
	}{
		"the defaults":                           {"ping_post", "floor: 1", nil},
		"the longest timeout of ingest and ping": {"ping_post", "floor: 1\n    bid_timeout: 4s", nil},
		"longer than an ingest allows": {
			"ping_post", "floor: 1\n    bid_timeout: 4001ms",
			[]string{"bid_timeout: is longer than an ingest allows: bidding ends after 4s, because post_reserve reserves 1s"},
		},
		"longer than ingest and ping allow": {
			"ping_post", "floor: 1\n    bid_timeout: 5s",
			[]string{"bid_timeout: is longer than an ingest allows: bidding ends after 4s", "bid_timeout: is longer than a ping allows: bidding ends after 4.5s, because ping_reserve reserves 500ms"},
		},
		"default timeout, long ping_reserve": {
			"ping_post", "floor: 1\n    ping_reserve: 3500ms",
			[]string{"bid_timeout: is longer than a ping allows: bidding ends after 1.5s, because ping_reserve reserves 3.5s of the 5s for the post; lower bid_timeout or ping_reserve"},
		},
		"no floor":                   {"ping_post", "currency: USD", []string{"floor: is 0, so a lead can sell for almost nothing; set the lowest bid that may buy"}},
		"a floor of 0":               {"ping_post", "floor: 0", []string{"floor: is 0"}},
		"a fixed payout for a floor": {"ping_post", "payout: {fixed: 2}", nil},
		"a fixed payout of 0":        {"ping_post", "payout: {fixed: 0}", []string{"floor: is 0"}},
		"no auction":                 {"waterfall", "bid_timeout: 5s", []string{"buyers[0].price: is missing or 0"}},
	} {
		text := strings.Replace(base, "ping_post", row.method, 1) + "    " + row.keys + "\n"
		warnings := compileText(t, text, nil).Warnings
		if len(warnings) != len(row.want) {
			t.Errorf("%s: %v, want %q", name, warnings, row.want)
			continue
		}
		for i, want := range row.want {
			if got := warnings[i].Error(); warnings[i].Line == 0 || !strings.Contains(got, "campaigns[0]."+want) {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
}

// TestUnreachableFilterSetWarning covers a buyer's filter sets of which the first one accepts every lead.
func TestUnreachableFilterSetWarning(t *testing.T) {
	for _, row := range []struct {
		sets, want string
	}{
		{"{buyer: buy_a, states: [TX]}, {buyer: buy_a, id: rest}", ""},
		{"{buyer: buy_a}, {buyer: buy_a, id: texas, states: [TX]}", "campaigns[0].buyers[1]: is never used, because campaigns[0].buyers[0] comes first"},
		{"{buyer: buy_a, caps: [{per: day, count: 5}]}, {buyer: buy_a, id: rest}", ""},
		{"{buyer: buy_a, suppliers: [sup_a]}, {buyer: buy_a, id: rest}", ""},
		{"{buyer: buy_a, not_suppliers: [sup_a]}, {buyer: buy_a, id: rest}", ""},
		{"{buyer: buy_a, priority: 2}, {buyer: buy_a, id: texas, priority: 1, states: [TX]}", ""},
	} {
		warnings := compileText(t, replaceInBase("{buyer: buy_a}", row.sets)+"    floor: 1\n", nil).Warnings
		if row.want == "" && len(warnings) > 0 || row.want != "" && (len(warnings) != 1 || !strings.Contains(warnings[0].Error(), row.want)) {
			t.Errorf("%s: %v, want %q", row.sets, warnings, row.want)
		}
	}
}

// TestWarnFiltersExcludeEachOther: each filter alone accepts some lead, but not all of them together.
func TestWarnFiltersExcludeEachOther(t *testing.T) {
	for name, row := range map[string]struct {
		buyer, campaign, entry string // further keys
		want                   string // part of the warning; empty: no warning
	}{
		"prefixes in common":            {"filters: [{field: zip, prefix: [752, 10]}]", "filters: [{field: zip, prefix: [75]}]", "filters: [{field: zip, prefix: [75201]}]", ""},
		"no prefix of buyer and entry":  {"filters: [{field: zip, prefix: [752]}]", "", "filters: [{field: zip, prefix: [10, 753]}]", `buyers[0]: never buys here: the conditions of the campaign, the buyer and this entry exclude each other on the field "zip"; change one of them, or remove the entry`},
		"lists of campaign and buyer":   {"filters: [{field: source, in: [a, b]}]", "filters: [{field: source, not_in: [a, b]}]", "", `buyers[0]: never buys here`},
		"lists and a pattern":           {"filters: [{field: source, in: [ab, c]}]", "", "filters: [{field: source, matches: '[x-z]+'}]", `buyers[0]: never buys here`},
		"distances":                     {"filters: [{field: zip, near: {zip: 75201, miles: 25}}]", "", "filters: [{field: zip, near: {zip: 10001, miles: 25}}]", `buyers[0]: never buys here`},
		"overlapping distances":         {"filters: [{field: zip, near: {zip: 75201, miles: 25}}]", "", "filters: [{field: zip, near: {zip: 76102, miles: 25}}]", ""},
		"one number in two forms":       {"", "filters: [{field: ai_quality_score, in: [1.0]}]", "filters: [{field: ai_quality_score, in: [1]}]", ""},
		"bounds of campaign and entry":  {"", "filters: [{field: ai_quality_score, min: 0.5}]", "filters: [{field: ai_quality_score, max: 0.4}]", `on the field "ai_quality_score"`},
		"ages":                          {"", "fields: [{name: born, type: date}]\n    filters: [{field: born, min_age: 65}]", "filters: [{field: born, max_age: 64}]", `on the field "born"`},
		"presence and absence":          {"filters: [{field: city, absent: true}]", "", "filters: [{field: city, not_in: [x]}]", `on the field "city"`},
		"states and a filter on states": {"states: [CA, TX]", "filters: [{field: state, not_in: [ca]}]", "states: [CA]", `on the field "state"`},
		"states with a common one":      {"states: [CA, TX]", "filters: [{field: state, in: [tx, NY]}]", "", ""},
		"the campaign alone":            {"", "filters: [{field: city, in: [x]}, {field: city, in: [y]}]", "filters: [{field: city, in: [z]}]", `filters: exclude each other on the field "city", so each lead stays unsold; remove one, or change its values`},
	} {
		text := strings.Replace(base, `endpoint: "https://a.example"}`, `endpoint: "https://a.example", `+row.buyer+"}", 1)
		text = strings.Replace(text, "[{buyer: buy_a}]", "[{buyer: buy_a, "+row.entry+"}]\n    floor: 1", 1)
		warnings := compileText(t, strings.ReplaceAll(text, ", }", "}")+"    "+row.campaign+"\n", nil).Warnings
		if row.want == "" && len(warnings) == 0 {
			continue
		}
		if len(warnings) != 1 || row.want == "" || !strings.Contains(warnings[0].Error(), row.want) {
			t.Errorf("%s: %v, want %q", name, warnings, row.want)
		}
	}
}

// TestImpossibleFilterValueWarning: lists with values that the type of the field excludes.
func TestImpossibleFilterValueWarning(t *testing.T) {
	for _, row := range []struct{ filter, value string }{
		{"{field: state, in: [texas]}", "texas"},
		{"{field: state, not_in: [ca, TX]}", ""},
		{"{field: make, in: [ford, Toyota]}", "Toyota"},
		{"{field: make, in: [ford, TESLA]}", ""},
		{"{field: zip, in: [2139]}", "2139"},
		{"{field: zip, not_in: ['02139', 75201-1234]}", ""},
		{"{field: born, in: [yesterday]}", "yesterday"},
		{"{field: source, in: [texas]}", ""},
	} {
		text := base + "    floor: 1\n    fields: [{name: make, type: enum, values: [Ford, Tesla]}, {name: born, type: date}]\n    filters: [" + row.filter + "]\n"
		warnings := compileText(t, text, nil).Warnings
		want := `campaigns[0].filters[0]: lists "` + row.value + `", which is not a possible value of this field`
		if row.value == "" && len(warnings) > 0 || row.value != "" && (len(warnings) != 1 || !strings.Contains(warnings[0].Error(), want)) {
			t.Errorf("%s: %v", row.filter, warnings)
		}
	}
}
