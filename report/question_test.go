package report

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"

	"pingpost/internal/must"
)

// Each condition selects its sums.
func TestOnly(t *testing.T) {
	r := newTradeReport(t)
	for _, test := range []struct {
		of   Dimension
		name string
		want string
	}{
		{BySupplier, "sup_a", " USD: leads 2 unmatched 1 sales 1 revenue 12050001 payout 9640000 returns 1 credit 12050001 reversal 9640000"},
		{ByCampaign, "cmp_b", "leads 2 auctions 2 pings 5"},
		{ByBuyer, "buy_b", "pings 2 bids 2 wins 2 posts 2"},
		{ByBuyer, "", "leads 4 unmatched 1 auctions 2"},
		{BySource, "search", "leads 1 auctions 1 pings 1"},
		{BySource, "nowhere", ""},
		{ByState, "ca", "leads 2 pings 4"},
		{ByReason, "below_floor", "pings 1 bids 1"},
		{ByReason, "caps_full", "unmatched 1 auctions 1"},
	} {
		q := wholeTime()
		q.Only = map[Dimension]string{test.of: test.name}
		got := rowLines(q, r.ask(q))
		if test.want == "" && len(got) != 0 || test.want != "" && (len(got) != 1 || !strings.Contains(strings.ReplaceAll(got[0], "USD:", " USD:"), test.want)) {
			t.Errorf("of %s %q it says %q and not %q", test.of, test.name, got, test.want)
		}
	}
}

// Hours and days begin by the zone, also with an offset of half an hour and when clocks
// change.
func TestTimes(t *testing.T) {
	log := newLog()
	log.log(0, &event.ExchangeFounded{})
	lead := func(n int, at time.Time) {
		log.log(at.Sub(start), &event.LeadDecided{Lead: leadID(n), Campaign: 1, Supplier: 1, Reason: market.ReasonCapsFull})
	}
	at := time.Date(2026, 3, 8, 5, 45, 0, 0, time.UTC) // New York: an hour is left out at 7:00 UTC
	for n := range 12 {
		lead(n, at.Add(time.Duration(n)*15*time.Minute))
	}
	autumn := time.Date(2026, 11, 1, 5, 0, 0, 0, time.UTC) // and one comes twice from 5:00 on
	for n := range 8 {
		lead(100+n, autumn.Add(time.Duration(n)*15*time.Minute))
	}
	r := run(t, log, options(log, t.TempDir()))
	r.waitCaughtUp()
	for _, test := range []struct {
		zone string
		by   Dimension
		from time.Time
		want string
	}{
		{"UTC", ByHour, at, "03-08T05:00Z 1, 03-08T06:00Z 4, 03-08T07:00Z 4, 03-08T08:00Z 3"},
		{"America/New_York", ByHour, at, "03-08T00:00-05:00 1, 03-08T01:00-05:00 4, 03-08T03:00-04:00 4, 03-08T04:00-04:00 3"},
		{"America/New_York", ByHour, autumn, "11-01T01:00-04:00 4, 11-01T01:00-05:00 4"},
		{"Asia/Kolkata", ByHour, at, "03-08T11:00+05:30 3, 03-08T12:00+05:30 4, 03-08T13:00+05:30 4, 03-08T14:00+05:30 1"},
		{"Asia/Kathmandu", ByHour, at, "03-08T11:00+05:45 2, 03-08T12:00+05:45 4, 03-08T13:00+05:45 4, 03-08T14:00+05:45 2"},
		{"America/Los_Angeles", ByDay, at, "03-07T00:00-08:00 9, 03-08T00:00-08:00 3"},
		{"America/New_York", ByDay, autumn, "11-01T00:00-04:00 8"},
	} {
		zone := must.Value(time.LoadLocation(test.zone))(t)
		q := Question{By: []Dimension{test.by}, From: test.from.UnixNano(), To: test.from.Add(24 * time.Hour).UnixNano(), Zone: zone}
		var got []string
		for _, row := range r.ask(q) {
			got = append(got, row.Start.Format("01-02T15:04Z07:00 ")+string(market.Money(row.MeasureNamed("leads")*1_000_000).AppendJSON(nil)))
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("by %s in %s: %s, not %s", test.by, test.zone, strings.Join(got, ", "), test.want)
		}
	}
}

// Counts are in the first row of a group, and amounts in the row of their currency.
func TestSeveralCurrencies(t *testing.T) {
	log := newLog()
	euro := sale(1, 7_000_000)
	euro.Currency = market.Currency{'E', 'U', 'R'}
	log.log(0, &event.LeadDecided{Lead: leadID(1), Campaign: 1, Supplier: 1, Sale: sale(1, 5_000_000)})
	log.log(0, &event.LeadDecided{Lead: leadID(2), Campaign: 1, Supplier: 1, Sale: euro})
	log.log(0, &event.LeadDecided{Lead: leadID(3), Campaign: 2, Supplier: 1, Sale: euro})
	r := run(t, log, options(log, t.TempDir()))
	r.waitCaughtUp()
	r.wantRows(wholeTime(BySupplier), []string{
		"sup_a EUR: leads 3 sales 2 revenue 14000000 payout 11200000", "sup_a USD: sales 1 revenue 5000000 payout 4000000",
	})
}

// An invalid question returns a fault with the field.
func TestFaults(t *testing.T) {
	r := newTradeReport(t)
	for field, change := range map[string]func(*Question){
		"by":       func(q *Question) { q.By = []Dimension{ByBuyer, ByBuyer} },
		"from":     func(q *Question) { q.From++ },
		"to":       func(q *Question) { q.To = q.From },
		"buyer":    func(q *Question) { q.Only = map[Dimension]string{ByBuyer: "nobody"} },
		"reason":   func(q *Question) { q.Only = map[Dimension]string{ByReason: "bad luck"} },
		"supplier": func(q *Question) { q.Only = map[Dimension]string{BySupplier: "buy_a"} },
	} {
		q := wholeTime()
		change(&q)
		var fault *InvalidQuestionError
		if _, err := r.Ask(t.Context(), q); !errors.As(err, &fault) || fault.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	both := wholeTime(ByHour, ByDay)
	if _, err := r.Ask(t.Context(), both); !errors.As(err, new(*InvalidQuestionError)) {
		t.Errorf("by hours and days: %v", err)
	}
}

// A question above the limits returns a fault, and the file is not rebuilt.
func TestTooLarge(t *testing.T) {
	log := newLog()
	trade(log)
	opt := options(log, t.TempDir())
	opt.checkInterval = time.Hour
	for what, most := range map[string]queryLimits{
		"cells":  {cells: 3, groups: 100, timeout: time.Minute},
		"groups": {cells: 100, groups: 2, timeout: time.Minute},
		"time":   {cells: 100, groups: 100, timeout: time.Nanosecond},
	} {
		opt.limits = most
		r := run(t, log, opt)
		r.waitCaughtUp()
		a, err := r.Ask(t.Context(), wholeTime(ByBuyer, ByHour))
		if err == nil {
			for err == nil {
				_, err = a.Next()
			}
			a.Close()
		}
		var fault *InvalidQuestionError
		if !errors.As(err, &fault) || fault.Field != "from" {
			t.Errorf("%s: %v", what, err)
		}
		if s := r.ProgressStatus(); s.Rebuilds != 0 || s.Errors != 0 {
			t.Errorf("%s: taken for damage: %+v", what, s)
		}
		r.stop()
	}
}

// A reading ends when its context is cancelled at any moment, and the file is not rebuilt.
func TestCancelledAnswer(t *testing.T) {
	r := newTradeReport(t)
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		a := must.Value(r.Ask(ctx, wholeTime(ByBuyer, ByHour)))(t)
		must.Value(a.Next())(t)
		cancel()
		var err error
		for err == nil {
			_, err = a.Next()
		}
		a.Close()
		if !errors.Is(err, context.Canceled) && !errors.Is(err, io.EOF) {
			t.Fatalf("the reading ended with %v", err)
		}
	}
	r.wantRows(wholeTime(ByBuyer), wanted)
	if s := r.ProgressStatus(); s.Rebuilds != 0 || s.Errors != 0 {
		t.Errorf("a cancelled reading was taken for damage: %+v", s)
	}
}
