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

func TestConditionsSelectSums(t *testing.T) {
	r := newTradeReport(t)
	for _, test := range []struct {
		by   Dimension
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
		q.Only = map[Dimension]string{test.by: test.name}
		got := rowLines(q, r.rowsOf(q))
		if test.want == "" && len(got) != 0 || test.want != "" && (len(got) != 1 || !strings.Contains(strings.ReplaceAll(got[0], "USD:", " USD:"), test.want)) {
			t.Errorf("condition %s %q: got %q, want %q", test.by, test.name, got, test.want)
		}
	}
}

// TestPeriodsStartByTimeZone includes offsets of half an hour and clock changes.
func TestPeriodsStartByTimeZone(t *testing.T) {
	log := newTestLog()
	log.log(0, &event.ExchangeFounded{})
	lead := func(n int, at time.Time) {
		log.log(at.Sub(start), &event.LeadDecided{Lead: leadID(n), Campaign: 1, Supplier: 1, Reason: market.ReasonCapsFull})
	}
	at := time.Date(2026, 3, 8, 5, 45, 0, 0, time.UTC) // New York skips an hour at 7:00 UTC
	for n := range 12 {
		lead(n, at.Add(time.Duration(n)*15*time.Minute))
	}
	autumn := time.Date(2026, 11, 1, 5, 0, 0, 0, time.UTC) // New York repeats an hour from 5:00 UTC
	for n := range 8 {
		lead(100+n, autumn.Add(time.Duration(n)*15*time.Minute))
	}
	r := startReport(t, log, testOptions(log, t.TempDir()))
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
		for _, row := range r.rowsOf(q) {
			got = append(got, row.Start.Format("01-02T15:04Z07:00 ")+string(market.Money(row.MeasureNamed("leads")*1_000_000).AppendJSON(nil)))
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("by %s in %s: got %s, want %s", test.by, test.zone, strings.Join(got, ", "), test.want)
		}
	}
}

// TestRowsPerCurrency: the first row of a group has the counts, and each currency has its amounts.
func TestRowsPerCurrency(t *testing.T) {
	log := newTestLog()
	euro := sale(1, 7_000_000)
	euro.Currency = market.Currency{'E', 'U', 'R'}
	log.log(0, &event.LeadDecided{Lead: leadID(1), Campaign: 1, Supplier: 1, Sale: sale(1, 5_000_000)})
	log.log(0, &event.LeadDecided{Lead: leadID(2), Campaign: 1, Supplier: 1, Sale: euro})
	log.log(0, &event.LeadDecided{Lead: leadID(3), Campaign: 2, Supplier: 1, Sale: euro})
	r := startReport(t, log, testOptions(log, t.TempDir()))
	r.waitCaughtUp()
	r.wantRows(wholeTime(BySupplier), []string{
		"sup_a EUR: leads 3 sales 2 revenue 14000000 payout 11200000", "sup_a USD: sales 1 revenue 5000000 payout 4000000",
	})
}

// TestInvalidQuestions checks that the error names the field.
func TestInvalidQuestions(t *testing.T) {
	r := newTradeReport(t)
	for field, change := range map[string]func(*Question){
		"by":       func(q *Question) { q.By = []Dimension{ByBuyer, ByBuyer} },
		"from":     func(q *Question) { q.From++ },
		"to":       func(q *Question) { q.To = q.From },
		"buyer":    func(q *Question) { q.Only = map[Dimension]string{ByBuyer: "buy_unknown"} },
		"reason":   func(q *Question) { q.Only = map[Dimension]string{ByReason: "bad luck"} },
		"supplier": func(q *Question) { q.Only = map[Dimension]string{BySupplier: "buy_a"} },
	} {
		q := wholeTime()
		change(&q)
		var invalid *InvalidQuestionError
		if _, err := r.Ask(t.Context(), q); !errors.As(err, &invalid) || invalid.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	hourAndDay := wholeTime(ByHour, ByDay)
	if _, err := r.Ask(t.Context(), hourAndDay); !errors.As(err, new(*InvalidQuestionError)) {
		t.Errorf("question by hour and day: %v", err)
	}
}

// TestQuestionLimits: a question above a limit is invalid and causes no rebuild.
func TestQuestionLimits(t *testing.T) {
	log := newTestLog()
	logTrade(log)
	opt := testOptions(log, t.TempDir())
	opt.checkInterval = time.Hour
	for name, limits := range map[string]queryLimits{
		"cells":  {cells: 3, groups: 100, timeout: time.Minute},
		"groups": {cells: 100, groups: 2, timeout: time.Minute},
		"time":   {cells: 100, groups: 100, timeout: time.Nanosecond},
	} {
		opt.limits = limits
		r := startReport(t, log, opt)
		r.waitCaughtUp()
		a, err := r.Ask(t.Context(), wholeTime(ByBuyer, ByHour))
		if err == nil {
			for err == nil {
				_, err = a.Next()
			}
			a.Close()
		}
		var invalid *InvalidQuestionError
		if !errors.As(err, &invalid) || invalid.Field != "from" {
			t.Errorf("%s: %v", name, err)
		}
		if s := r.ProgressStatus(); s.Rebuilds != 0 || s.Errors != 0 {
			t.Errorf("%s: the report counts an error or a rebuild: %+v", name, s)
		}
		r.stop()
	}
}

// TestCancelledAnswerCausesNoRebuild cancels answers at random moments.
func TestCancelledAnswerCausesNoRebuild(t *testing.T) {
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
			t.Fatalf("the cancelled answer ended with %v", err)
		}
	}
	r.wantRows(wholeTime(ByBuyer), tradeRowsByBuyer)
	if s := r.ProgressStatus(); s.Rebuilds != 0 || s.Errors != 0 {
		t.Errorf("a cancelled answer caused an error or a rebuild: %+v", s)
	}
}
