package report

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pingpost/engine/market"
)

func (u *Unmatched) said() string {
	return fmt.Sprintf("%d of %d: %v by campaign %v; %v by buyer %v", u.Unsold, u.Leads, u.Reasons, u.Campaigns, u.Outcomes, u.Buyers)
}

// TestUnmatched: why the leads of the trade were not sold, whole, by one of its
// campaigns, and with one buyer's bids alone.
func TestUnmatched(t *testing.T) {
	r := traded(t)
	for _, row := range []struct {
		only map[Dimension]string
		want string
	}{
		{nil, "1 of 4: [{caps_full  1}] by campaign [{cmp_a  1}]; [{below_floor  1} {post_rejected  1} {timeout  1}] by buyer [{below_floor buy_a 1} {post_rejected buy_b 1} {timeout buy_d 1}]"},
		{map[Dimension]string{ByCampaign: "cmp_b"}, "0 of 2: [] by campaign []; [{below_floor  1} {post_rejected  1} {timeout  1}] by buyer [{below_floor buy_a 1} {post_rejected buy_b 1} {timeout buy_d 1}]"},
		{map[Dimension]string{ByBuyer: "buy_d"}, "1 of 4: [{caps_full  1}] by campaign [{cmp_a  1}]; [{timeout  1}] by buyer [{timeout buy_d 1}]"},
		{map[Dimension]string{BySupplier: "sup_a"}, "1 of 2: [{caps_full  1}] by campaign [{cmp_a  1}]; [] by buyer []"},
	} {
		q := whole()
		q.Only = row.only
		u, err := r.Unmatched(context.Background(), q)
		must(t, err)
		if u.said() != row.want {
			t.Errorf("%v: %s, want\n%s", row.only, u.said(), row.want)
		}
	}
}

// TestSpan: never less than what is asked for.
func TestSpan(t *testing.T) {
	q := 15 * time.Minute
	for _, row := range [][4]time.Duration{{0, q, 0, q}, {1, q + 1, 0, 2 * q}, {q - 1, q, 0, q}, {q, 2 * q, q, 2 * q}, {-1, 0, -q, 0}} {
		if from, to := Span(int64(row[0]), int64(row[1])); from != int64(row[2]) || to != int64(row[3]) {
			t.Errorf("%v: %s to %s", row, time.Duration(from), time.Duration(to))
		}
	}
	if causeOf(market.OutcomePostRejected).String() != "post_rejected" {
		t.Error("a refused post has another name")
	}
}
