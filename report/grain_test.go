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
)

// TestSpans: every quarter is in one of them, once, and no day or hour that is in the time
// as a whole is in pieces.
func TestSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Int64Range(-1000, 1000).Draw(t, "first")
		last := first + rapid.Int64Range(0, 1000).Draw(t, "quarters")
		next := first
		for _, of := range spans(first, last, []int64{days, hours, quarters}) {
			if of.first*of.unit != next || of.last <= of.first {
				t.Fatalf("%+v begins elsewhere than at %d", of, next)
			}
			for _, longer := range []int64{hours, days} {
				whole := -floorDiv(-of.first*of.unit, longer)
				if of.unit < longer && (whole+1)*longer <= of.last*of.unit {
					t.Fatalf("%+v has a whole unit of %d", of, longer)
				}
			}
			next = of.last * of.unit
		}
		if next != last {
			t.Fatalf("they end at %d, want %d", next, last)
		}
	})
}

// TestCovering: what tells apart two columns or fewer, or the parties, is read by days, and
// from cells that tell apart no more columns than it has to.
func TestCovering(t *testing.T) {
	for g := range fine + 1 {
		for _, unit := range []int64{quarters, hours, days} {
			found, ok := covering(g, unit)
			n := bits.OnesCount8(uint8(g))
			if want := unit == quarters || n <= 2 || parties.tells(g); ok != want {
				t.Errorf("%06b by %d: %t", g, unit, ok)
			}
			if !found.tells(g) || ok && unit != quarters && found != g || n <= 1 && found != g {
				t.Errorf("%06b by %d is read from %06b", g, unit, found)
			}
		}
	}
}

// naive adds up a question from the quarters of fine cells and from the bids: a line of what
// it comes to by the start and the names of its rows.
func (r *running) naive(q *Question, from int64) map[string]string {
	r.t.Helper()
	type sum struct {
		measures
		pings histogram
	}
	all := map[string]*sum{}
	of := func(at int64, c *cell) *sum {
		names := map[Dimension]string{
			BySupplier: r.opt.Source.NameOf(event.NameSupplier, c.supplier), ByBuyer: r.opt.Source.NameOf(event.NameBuyer, c.buyer),
			ByCampaign: r.opt.Source.NameOf(event.NameCampaign, c.campaign), ByState: c.state, ByReason: c.reason.String(),
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
		if q.timed() {
			key = q.start(timeOf(quarterOf(at))).Format(time.RFC3339)
		}
		for _, d := range q.By {
			key += "|" + names[d]
		}
		return into(all, key)
	}
	var at int64
	var c cell
	var currency string
	var m measures
	places := []any{&at, &c.campaign, &c.supplier, &c.buyer, &c.source, &c.state, &c.reason, &currency}
	for i := range m {
		places = append(places, &m[i])
	}
	r.eachRow("SELECT start, campaign, supplier, buyer, source, state, reason, currency, "+list(measureNames)+" FROM cells WHERE grain = 63 AND unit = 1", places, func() {
		of(at*quarter, &c).add(&m)
	})
	if parties.tells(q.grain()) {
		c = cell{}
		elapsed := int64(0)
		r.eachRow("SELECT a.at, a.campaign, a.supplier, b.buyer, b.elapsed FROM bids b JOIN auctions a ON a.id = b.auction WHERE a.test = 0 AND b.status <> 0",
			[]any{&at, &c.campaign, &c.supplier, &c.buyer, &elapsed}, func() { of(at, &c).pings.count(uint64(slotOf(elapsed)), 1) })
	}
	lines := map[string]string{}
	for key, s := range all {
		lines[key] = fmt.Sprint(s.measures, s.pings)
	}
	return lines
}

func list(names []string) (text string) {
	for i, name := range names {
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}

func (r *running) eachRow(text string, places []any, take func()) {
	r.t.Helper()
	r.mu.Lock()
	f := r.file
	r.mu.Unlock()
	rows, err := f.readers.Query(text)
	must(r.t, err)
	defer rows.Close()
	for rows.Next() {
		must(r.t, rows.Scan(places...))
		take()
	}
	must(r.t, rows.Err())
}

var zones = []string{"UTC", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe"}

func (b *bazaar) drawQuestion(t *rapid.T) *Question {
	zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
	if err != nil {
		t.Fatal(err)
	}
	from := quarterOf(start.UnixNano()) + rapid.SampledFrom([]int64{-200, -30, 0, 3, 50, 700}).Draw(t, "about") + rapid.Int64Range(-30, 30).Draw(t, "from")
	q := &Question{Since: true, Zone: zone, From: from * quarter, Only: map[Dimension]string{}}
	q.To = q.From + rapid.Int64Range(1, 2000).Draw(t, "quarters")*quarter
	q.By = rapid.SampledFrom([][]Dimension{nil, {ByHour}, {ByDay}}).Draw(t, "by time")
	for _, d := range []Dimension{BySupplier, ByBuyer, ByCampaign, ByState, ByReason} {
		switch rapid.IntRange(0, 7).Draw(t, d.String()) {
		case 0:
			q.By = append(slices.Clone(q.By), d)
		case 1:
			switch kind, configured := d.kind(); {
			case configured:
				q.Only[d] = rapid.SampledFrom(testNames[kind]).Draw(t, "only")
			case d == ByState:
				q.Only[d] = rapid.SampledFrom([]string{"CA", "TX", ""}).Draw(t, "only")
			}
		}
	}
	return q
}

// TestSumsAreOfQuarters: whatever is asked, in any zone and between any quarters, comes to
// what its quarters come to, also where a day is removed in part, and where a day was
// written in several batches and by several runs.
func TestSumsAreOfQuarters(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBazaar(rt, rapid.SampledFrom([]time.Duration{10 * time.Minute, 4 * time.Hour, 40 * time.Hour}).Draw(rt, "apart"))
		newest := time.Unix(0, b.log.entries[len(b.log.entries)-1].At).Sub(start)
		for n := range rapid.IntRange(0, 6).Draw(rt, "after the clock was set back") {
			b.lead(rt, 100+n, time.Duration(rapid.IntRange(0, int(newest/time.Hour)).Draw(rt, "to"))*time.Hour)
			if rapid.Bool().Draw(rt, "and right") {
				b.lead(rt, 200+n, newest)
			}
		}
		opt := options(b.log, t.TempDir())
		opt.open = rapid.SampledFrom([]int{20, mostOpen, mostOpen}).Draw(rt, "open sums")
		opt.checks, opt.Now = time.Hour, func() time.Time { return start.Add(50 * 24 * time.Hour) }
		all := b.log.entries
		b.log.entries = all[:1]
		r := run(t, b.log, opt)
		for done := 1; done < len(all); {
			done = rapid.IntRange(done+1, len(all)).Draw(rt, "entries")
			b.log.change(func() { b.log.entries = all[:done] })
			r.caughtUp()
			if rapid.Bool().Draw(rt, "again") {
				r = r.again()
			}
		}
		r.stop()
		if rapid.Bool().Draw(rt, "keeps") {
			opt.Keep = 50*24*time.Hour - time.Duration(rapid.IntRange(1, 1000).Draw(rt, "swept"))*15*time.Minute
		}
		r = run(t, b.log, opt)
		defer r.stop()
		r.caughtUp()
		begins := int64(0)
		if opt.Keep > 0 {
			begins = quarterOf(opt.Now().Add(-opt.Keep).UnixNano()) * quarter
			left := fmt.Sprintf(" WHERE (start + 1) * unit <= %d", begins/quarter)
			r.until("all sums of what is past keeping are gone", func() bool {
				return r.scalar("SELECT (SELECT count(*) FROM cells"+left+") + (SELECT count(*) FROM paces"+left+") + (SELECT count(*) FROM whys"+left+")") == "0"
			})
		}
		for range 8 {
			q := b.drawQuestion(rt)
			if opt.Keep > 0 && parties.tells(q.grain()) {
				q.Only[ByState] = "CA" // a removed bid may be of a quarter that is kept, by a second
			}
			want := r.naive(q, max(begins, q.From))
			got := map[string]string{}
			for _, row := range r.ask(*q) {
				key := ""
				if q.timed() {
					key = row.Start.Format(time.RFC3339)
				}
				for _, d := range q.By {
					key += "|" + row.Names[d]
				}
				got[key] = fmt.Sprint(row.measures, row.pings)
			}
			if !maps.Equal(got, want) {
				rt.Fatalf("%+v comes to\n%v, want\n%v", *q, got, want)
			}
		}
	})
}
