package report

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/report/histogram"
	"pingpost/report/projection"

	"pingpost/internal/must"
)

// TestSplitIntoSpans: spans contain each quarter hour once and do not divide whole days or hours.
func TestSplitIntoSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Int64Range(-1000, 1000).Draw(t, "first")
		last := first + rapid.Int64Range(0, 1000).Draw(t, "quarters")
		next := first
		for _, span := range projection.SplitIntoSpans(first, last, []int64{projection.Days, projection.Hours, projection.Quarters}) {
			if span.First*span.Unit != next || span.End <= span.First {
				t.Fatalf("span %+v does not begin at %d", span, next)
			}
			for _, longer := range []int64{projection.Hours, projection.Days} {
				whole := -projection.DivideRoundingDown(-span.First*span.Unit, longer)
				if span.Unit < longer && (whole+1)*longer <= span.End*span.Unit {
					t.Fatalf("span %+v contains a whole unit of %d", span, longer)
				}
			}
			next = span.End * span.Unit
		}
		if next != last {
			t.Fatalf("the spans end at %d, want %d", next, last)
		}
	})
}

// TestSmallestStoredColumnSet: up to two columns, and the parties, have their own sums by day.
func TestSmallestStoredColumnSet(t *testing.T) {
	for g := range projection.AllColumns + 1 {
		for _, unit := range []int64{projection.Quarters, projection.Hours, projection.Days} {
			found, ok := projection.SmallestStoredColumnSet(g, unit)
			n := bits.OnesCount8(uint8(g))
			if want := unit == projection.Quarters || n <= 2 || projection.Parties.Includes(g); ok != want {
				t.Errorf("columns %06b by %d: stored %t", g, unit, ok)
			}
			if !found.Includes(g) || ok && unit != projection.Quarters && found != g || n <= 1 && found != g {
				t.Errorf("columns %06b by %d are read from %06b", g, unit, found)
			}
		}
	}
}

// sumQuarterHours computes an answer from the quarter hours of AllColumns and from the bids. It
// returns a line for each row, by its start and names.
func (r *testReport) sumQuarterHours(q *Question, from int64) map[string]string {
	r.t.Helper()
	type sum struct {
		projection.Measures
		pings histogram.Histogram
	}
	all := map[string]*sum{}
	sumOf := func(at int64, c *projection.SumDimensionValues) *sum {
		names := map[Dimension]string{
			BySupplier: r.opt.Source.NameOf(event.ObjectSupplier, c.Supplier), ByBuyer: r.opt.Source.NameOf(event.ObjectBuyer, c.Buyer),
			ByCampaign: r.opt.Source.NameOf(event.ObjectCampaign, c.Campaign), ByState: c.State, ByReason: c.Reason.String(),
		}
		for d, name := range q.Only {
			if names[d] != name {
				return new(sum)
			}
		}
		if at < from || at >= q.To {
			return new(sum)
		}
		key := ""
		if q.groupsByTime() {
			key = q.periodStart(startOfQuarterHour(projection.QuarterHourOf(at))).Format(time.RFC3339)
		}
		for _, d := range q.By {
			key += "|" + names[d]
		}
		return projection.GetOrInsert(all, key)
	}
	var at int64
	var c projection.SumDimensionValues
	var currency string
	var m projection.Measures
	places := []any{&at, &c.Campaign, &c.Supplier, &c.Buyer, &c.Source, &c.State, &c.Reason, &currency}
	for i := range m {
		places = append(places, &m[i])
	}
	r.eachRow("SELECT start, campaign, supplier, buyer, source, state, reason, currency, "+joinColumns(projection.MeasureNames)+" FROM cells WHERE grain = 63 AND unit = 1", places, func() {
		sumOf(at*projection.QuarterHourNanos, &c).Add(&m)
	})
	if projection.Parties.Includes(q.usedColumns()) {
		c = projection.SumDimensionValues{}
		elapsed := int64(0)
		r.eachRow("SELECT a.at, a.campaign, a.supplier, b.buyer, b.elapsed FROM bids b JOIN auctions a ON a.id = b.auction WHERE a.test = 0 AND b.status <> 0",
			[]any{&at, &c.Campaign, &c.Supplier, &c.Buyer, &elapsed}, func() { sumOf(at, &c).pings.Record(elapsed) })
	}
	lines := map[string]string{}
	for key, s := range all {
		lines[key] = fmt.Sprint(s.Measures, s.pings)
	}
	return lines
}

func joinColumns(names []string) (text string) {
	for i, name := range names {
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}

func (r *testReport) eachRow(text string, places []any, visit func()) {
	r.t.Helper()
	r.mu.Lock()
	f := r.file
	r.mu.Unlock()
	rows := must.Value(f.readers.Query(text))(r.t)
	defer rows.Close()
	for rows.Next() {
		must.Succeed(r.t, rows.Scan(places...))
		visit()
	}
	must.Succeed(r.t, rows.Err())
}

var zones = []string{"UTC", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe"}

func (b *randomTrade) drawQuestion(t *rapid.T) *Question {
	zone := must.Value(time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone")))(t)
	from := projection.QuarterHourOf(start.UnixNano()) + rapid.SampledFrom([]int64{-200, -30, 0, 3, 50, 700}).Draw(t, "about") + rapid.Int64Range(-30, 30).Draw(t, "from")
	q := &Question{Since: true, Zone: zone, From: from * projection.QuarterHourNanos, Only: map[Dimension]string{}}
	q.To = q.From + rapid.Int64Range(1, 2000).Draw(t, "quarters")*projection.QuarterHourNanos
	q.By = rapid.SampledFrom([][]Dimension{nil, {ByHour}, {ByDay}}).Draw(t, "by time")
	for _, d := range []Dimension{BySupplier, ByBuyer, ByCampaign, ByState, ByReason} {
		switch rapid.IntRange(0, 7).Draw(t, d.String()) {
		case 0:
			q.By = append(slices.Clone(q.By), d)
		case 1:
			switch kind, configured := d.objectKind(); {
			case configured:
				q.Only[d] = rapid.SampledFrom(testNames[kind]).Draw(t, "only")
			case d == ByState:
				q.Only[d] = rapid.SampledFrom([]string{"CA", "TX", ""}).Draw(t, "only")
			}
		}
	}
	return q
}

// TestAnswersEqualSumsOfQuarterHours draws questions, zones and times. It includes partly removed
// days and days written in several batches and runs.
func TestAnswersEqualSumsOfQuarterHours(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newRandomTrade(rt, rapid.SampledFrom([]time.Duration{10 * time.Minute, 4 * time.Hour, 40 * time.Hour}).Draw(rt, "apart"))
		newest := time.Unix(0, b.log.entries[len(b.log.entries)-1].At).Sub(start)
		for n := range rapid.IntRange(0, 6).Draw(rt, "after the clock was set back") {
			b.lead(rt, 100+n, time.Duration(rapid.IntRange(0, int(newest/time.Hour)).Draw(rt, "to"))*time.Hour)
			if rapid.Bool().Draw(rt, "and right") {
				b.lead(rt, 200+n, newest)
			}
		}
		opt := testOptions(b.log, t.TempDir())
		opt.maxOpenSums = rapid.SampledFrom([]int{20, defaultMaxOpenSums, defaultMaxOpenSums}).Draw(rt, "open sums")
		opt.checkInterval, opt.Now = time.Hour, func() time.Time { return start.Add(50 * 24 * time.Hour) }
		all := b.log.entries
		b.log.entries = all[:1]
		r := startReport(t, b.log, opt)
		for done := 1; done < len(all); {
			done = rapid.IntRange(done+1, len(all)).Draw(rt, "entries")
			b.log.change(func() { b.log.entries = all[:done] })
			r.waitCaughtUp()
			if rapid.Bool().Draw(rt, "again") {
				r = r.restart()
			}
		}
		r.stop()
		if rapid.Bool().Draw(rt, "keeps") {
			opt.Retention = 50*24*time.Hour - time.Duration(rapid.IntRange(1, 1000).Draw(rt, "swept"))*15*time.Minute
		}
		r = startReport(t, b.log, opt)
		defer r.stop()
		r.waitCaughtUp()
		begins := int64(0)
		if opt.Retention > 0 {
			begins = projection.QuarterHourOf(opt.Now().Add(-opt.Retention).UnixNano()) * projection.QuarterHourNanos
			left := fmt.Sprintf(" WHERE (start + 1) * unit <= %d", begins/projection.QuarterHourNanos)
			r.waitUntil("all sums older than the retention are removed", func() bool {
				return r.queryString("SELECT (SELECT count(*) FROM cells"+left+") + (SELECT count(*) FROM paces"+left+") + (SELECT count(*) FROM whys"+left+")") == "0"
			})
		}
		for range 8 {
			q := b.drawQuestion(rt)
			if opt.Retention > 0 && projection.Parties.Includes(q.usedColumns()) {
				q.Only[ByState] = "CA" // a removed bid may belong to a quarter hour that is kept
			}
			want := r.sumQuarterHours(q, max(begins, q.From))
			got := map[string]string{}
			for _, row := range r.rowsOf(*q) {
				key := ""
				if q.groupsByTime() {
					key = row.Start.Format(time.RFC3339)
				}
				for _, d := range q.By {
					key += "|" + row.Names[d]
				}
				got[key] = fmt.Sprint(row.Measures, row.pings)
			}
			if !maps.Equal(got, want) {
				rt.Fatalf("%+v: got\n%v\nwant\n%v", *q, got, want)
			}
		}
	})
}
