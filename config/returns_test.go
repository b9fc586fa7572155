package config

import (
	"reflect"
	"testing"
	"time"

	"pingpost/config/schema"
	"pingpost/engine/market"
)

func TestReturns(t *testing.T) {
	listed := map[string]struct{}{"wrong number": {}, "duplicate": {}}
	for _, c := range []struct {
		yaml string
		want market.ReturnRule
	}{
		{"", market.DefaultReturnRule()},
		{"returns: {}", market.ReturnRule{Window: 14 * schema.Day, ReversePayout: true, MaxShare: market.WholeShare}},
		{"returns: {window: 0}", market.ReturnRule{ReversePayout: true, MaxShare: market.WholeShare}},
		{"returns: {window: 1d12h, approval: manual}", market.ReturnRule{Window: 36 * time.Hour, Manual: true, ReversePayout: true, MaxShare: market.WholeShare}},
		{
			"returns: {reasons: [wrong number, duplicate], cap_back: true, reverse_payout: false, max_share_per_month: 0.15}",
			market.ReturnRule{Window: 14 * schema.Day, Reasons: listed, RestoreCaps: true, MaxShare: 150_000},
		},
		{"returns: {max_share_per_month: 0}", market.ReturnRule{Window: 14 * schema.Day, ReversePayout: true}},
	} {
		keys := ""
		if c.yaml != "" {
			keys = "    " + c.yaml + "\n"
		}
		if got := compileText(t, base+keys, nil).Catalog.Campaigns["cmp"].Returns; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.yaml, got, c.want)
		}
	}
}
