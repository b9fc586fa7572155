package report

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/report/projection"

	"pingpost/internal/must"
)

func (u *UnsoldSummary) lines() string {
	return fmt.Sprintf("%d of %d: %v by campaign %v; %v by buyer %v", u.Unsold, u.Leads, u.Reasons, u.Campaigns, u.Outcomes, u.Buyers)
}

// TestSummarizeUnsold covers the whole trade, a campaign, a buyer and a supplier.
func TestSummarizeUnsold(t *testing.T) {
	r := newTradeReport(t)
	const bids = "[{below_floor  1} {post_rejected  1} {timeout  1}] by buyer [{below_floor buy_a 1} {post_rejected buy_b 1} {timeout buy_d 1}]"
	for _, row := range []struct {
		s    LeadOrAuctionQuery
		want string
	}{
		{LeadOrAuctionQuery{}, "1 of 4: [{caps_full  1}] by campaign [{cmp_a  1}]; " + bids},
		{LeadOrAuctionQuery{Campaign: "cmp_b"}, "0 of 2: [] by campaign []; " + bids},
		{LeadOrAuctionQuery{Buyer: "buy_d"}, "1 of 4: [{caps_full  1}] by campaign [{cmp_a  1}]; [{timeout  1}] by buyer [{timeout buy_d 1}]"},
		{LeadOrAuctionQuery{Supplier: "sup_a"}, "1 of 2: [{caps_full  1}] by campaign [{cmp_a  1}]; [] by buyer []"},
	} {
		row.s.From, row.s.To = start.Add(-240*time.Hour).UnixNano(), start.Add(240*time.Hour).UnixNano()
		u := must.Value(r.SummarizeUnsold(context.Background(), row.s))(t)
		if u.lines() != row.want {
			t.Errorf("%+v: %s, want\n%s", row.s, u.lines(), row.want)
		}
	}
	for field, s := range map[string]LeadOrAuctionQuery{"campaign": {Campaign: "none"}, "supplier": {Supplier: "none"}, "buyer": {Buyer: "none"}} {
		var invalid *InvalidQuestionError
		if _, err := r.SummarizeUnsold(context.Background(), s); !errors.As(err, &invalid) || invalid.Field != field {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// countUnsold counts leads and bids of a time span by the definition.
func (b *randomTrade) countUnsold(s *LeadOrAuctionQuery) (leads, unsold int64, reasons, buyers map[NamedCount]int64) {
	reasons, buyers = map[NamedCount]int64{}, map[NamedCount]int64{}
	for i := range b.leads {
		l := &b.leads[i]
		if l.Test || !s.includesTime(l.At) || s.Supplier != "" && s.Supplier != l.Supplier {
			continue
		}
		leads++
		if l.Buyer == "" {
			unsold++
			reasons[NamedCount{Name: l.Reason.String()}]++
		}
		for _, bid := range b.bids[l.Auction] {
			if bid.Outcome != market.OutcomeWon && bid.Outcome != market.OutcomeLost {
				buyers[NamedCount{Name: bid.Outcome.String(), Buyer: testNames[event.ObjectBuyer][bid.Buyer]}]++
			}
		}
	}
	return leads, unsold, reasons, buyers
}

func countsByName(list []NamedCount) map[NamedCount]int64 {
	counts := map[NamedCount]int64{}
	for _, t := range list {
		n := t.N
		t.N = 0
		counts[t] += n
	}
	return counts
}

// TestSummarizeUnsoldEqualsCount draws time spans and compares with countUnsold.
func TestSummarizeUnsoldEqualsCount(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newRandomTrade(rt, 5*time.Hour)
		opt := testOptions(b.log, t.TempDir())
		opt.checkInterval, opt.Now = time.Hour, func() time.Time { return start.Add(30 * 24 * time.Hour) }
		r := startReport(t, b.log, opt)
		defer r.stop()
		r.waitCaughtUp()
		for range 5 {
			from := start.Truncate(time.Hour).Add(time.Duration(rapid.IntRange(-30, 200).Draw(rt, "from")) * time.Hour)
			s := LeadOrAuctionQuery{Supplier: rapid.SampledFrom(testNames[event.ObjectSupplier]).Draw(rt, "supplier")}
			s.From, s.To = from.UnixNano(), from.Add(time.Duration(rapid.IntRange(1, 200).Draw(rt, "hours"))*time.Hour).UnixNano()
			query := s
			query.From += int64(rapid.IntRange(0, 3599).Draw(rt, "into the first hour")) * int64(time.Second)
			u := must.Value(r.SummarizeUnsold(context.Background(), query))(rt)
			leads, unsold, reasons, buyers := b.countUnsold(&s)
			if u.Leads != leads || u.Unsold != unsold || !maps.Equal(countsByName(u.Reasons), reasons) || !maps.Equal(countsByName(u.Buyers), buyers) || u.From != s.From || u.To != s.To {
				rt.Fatalf("%+v: got %s, want %d of %d: %v %v", s, u.lines(), unsold, leads, reasons, buyers)
			}
		}
	})
}

// TestRetentionOfHourlyReasons: hours older than Retention are removed; a day stays until its last
// hour is removed.
func TestRetentionOfHourlyReasons(t *testing.T) {
	log := newTestLog()
	log.log(0, &event.ExchangeFounded{})
	for n, at := range []time.Duration{0, 3 * time.Hour} {
		log.log(at, &event.LeadDecided{Lead: leadID(n), Campaign: 1, Supplier: 1, Reason: market.ReasonCapsFull})
	}
	opt := testOptions(log, t.TempDir())
	opt.Retention = 24*time.Hour - 2*time.Hour // by the clock of the tests
	r := startReport(t, log, opt)
	r.waitCaughtUp()
	remaining := func(unit int) string {
		return r.queryString(fmt.Sprint("SELECT sum(leads) FROM whys WHERE unit = ", unit))
	}
	r.waitUntil("the first hour is removed", func() bool { return remaining(projection.Hours) == "1" })
	if got := remaining(projection.Days); got != "2" {
		t.Errorf("the day has %s leads, want 2", got)
	}
	u := must.Value(r.SummarizeUnsold(t.Context(), LeadOrAuctionQuery{From: start.Add(-time.Hour).UnixNano(), To: start.Add(6 * time.Hour).UnixNano()}))(t)
	if u.Leads != 1 || u.From != start.Add(2*time.Hour).UnixNano() {
		t.Errorf("%d leads since %s", u.Leads, time.Unix(0, u.From).UTC())
	}
}
