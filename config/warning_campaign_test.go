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
		{"{buyer: buy_a, priority: 2}, {buyer: buy_a, id: texas, priority: 1, states: [TX]}", ""},
	} {
		warnings := compileText(t, replaceInBase("{buyer: buy_a}", row.sets)+"    floor: 1\n", nil).Warnings
		if row.want == "" && len(warnings) > 0 || row.want != "" && (len(warnings) != 1 || !strings.Contains(warnings[0].Error(), row.want)) {
			t.Errorf("%s: %v, want %q", row.sets, warnings, row.want)
		}
	}
}
