package report

import (
	"context"
	"database/sql"

	"pingpost/report/histogram"
	"pingpost/report/projection"
)

// openSums are sums of hours and days that are not over, which are in memory alone: in
// the file each is written once, when its unit is over. Written with every batch they
// would be dozens of rows for each lead. An answer reads the time that is left by
// quarters, of the two grains that are written at once, and so are these learnt again
// where the file is opened.
//
// The time that is over is the quarter of the last entry, wherever the clock has been: a
// sum of before that changes is written at once.
type openSums struct {
	sums         map[projection.SumPosition]*projection.Measures
	latencies    map[projection.LatencyPosition]*histogram.Histogram
	latencySlots int // in paces
	limit        int

	lastQuarter int64 // that they were last looked through in
}

// mostOpen bounds them, which is 30 MB or so: where there are more, all are written before
// their time, to be added to, and removed where the file is opened again.
const (
	defaultMaxOpenSums = 100_000
	slotsPerSum        = 16 // which take as much memory as a cell
)

func newOpenSums() *openSums {
	return &openSums{sums: map[projection.SumPosition]*projection.Measures{}, latencies: map[projection.LatencyPosition]*histogram.Histogram{}, limit: defaultMaxOpenSums}
}

// atOnce tells whether sums are written with every batch.
func isWrittenAtOnce(g projection.Grouping, unit int64) bool {
	return unit == projection.Quarters && (g == projection.AllColumns || g == projection.Parties)
}

// over tells whether a unit is over, at a quarter.
func hasEnded(unit, start, quarter int64) bool { return (start+1)*unit <= quarter }

// full tells that there are too many.
func (o *openSums) isFull() bool {
	return len(o.sums)+len(o.latencies)+o.latencySlots/slotsPerSum > o.limit
}

// clock adds times.
func (o *openSums) addLatencies(at projection.LatencyPosition, h histogram.Histogram) {
	to := projection.Ensure(o.latencies, at)
	o.latencySlots -= len(*to)
	to.Add(h)
	o.latencySlots += len(*to)
}

// reopen learns what is open from what the file has: days from their hours that are over,
// and all else from the quarters of the hour that is not.
func (f *file) restoreOpenSums(ctx context.Context) error {
	now := projection.QuarterOf(f.position.at)
	day, hour := projection.FloorDiv(now, projection.Days), projection.FloorDiv(now, projection.Hours)
	for _, table := range []string{sumTable, latencyTable} {
		for _, g := range projection.Groupings {
			for _, unit := range g.Units() {
				if isWrittenAtOnce(g, unit) {
					continue
				}
				if err := f.exec(ctx, "DELETE FROM "+table+" WHERE grain = ? AND unit = ? AND start >= ?", g, unit, projection.FloorDiv(now, unit)); err != nil {
					return err
				}
			}
		}
	}
	const hoursOver = " WHERE grain < 63 AND unit = 4 AND start >= ? AND start < ?"
	if err := f.eachSum(ctx, hoursOver, func(at projection.SumPosition, m *projection.Measures) {
		at.Unit, at.Start = projection.Days, day
		projection.Ensure(f.openSums.sums, at).Add(m)
	}, day*projection.Days/projection.Hours, hour); err != nil {
		return err
	}
	if err := f.eachLatency(ctx, hoursOver, func(at projection.LatencyPosition, h histogram.Histogram) {
		at.Unit, at.Start = projection.Days, day
		f.openSums.addLatencies(at, h)
	}, day*projection.Days/projection.Hours, hour); err != nil {
		return err
	}
	begun := map[projection.SumKey]*projection.Measures{}
	if err := f.eachSum(ctx, " WHERE grain = 63 AND unit = 1 AND start >= ?", func(at projection.SumPosition, m *projection.Measures) {
		at.Key.Quarter = at.Start
		projection.Ensure(begun, at.Key).Add(m)
	}, hour*projection.Hours); err != nil {
		return err
	}
	for at, m := range projection.RollUp(begun, f.throttle.restIfDue) {
		if !isWrittenAtOnce(at.Grouping, at.Unit) && !hasEnded(at.Unit, at.Start, now) {
			projection.Ensure(f.openSums.sums, at).Add(m)
		}
	}
	clocked := map[projection.LatencyKey]*histogram.Histogram{}
	if err := f.eachLatency(ctx, " WHERE grain = 7 AND unit = 1 AND start >= ?", func(at projection.LatencyPosition, h histogram.Histogram) {
		at.Key.Key.Quarter = at.Start
		projection.Ensure(clocked, at.Key).Add(h)
	}, hour*projection.Hours); err != nil {
		return err
	}
	for at, h := range projection.RollUpLatencies(clocked, f.throttle.restIfDue) {
		if !isWrittenAtOnce(at.Grouping, at.Unit) && !hasEnded(at.Unit, at.Start, now) {
			f.openSums.addLatencies(at, *h)
		}
	}
	return nil
}

func (f *file) eachSum(ctx context.Context, where string, take func(projection.SumPosition, *projection.Measures), args ...any) error {
	var at projection.SumPosition
	var currency string
	var m projection.Measures
	places := make([]any, 0, len(sumKeyColumns)+projection.MeasureCount)
	places = append(places, &at.Grouping, &at.Unit, &at.Start, &at.Key.Campaign, &at.Key.Supplier, &at.Key.Buyer, &at.Key.Source, &at.Key.State, &at.Key.Reason, &currency)
	for i := range m {
		places = append(places, &m[i])
	}
	return f.each(ctx, "SELECT * FROM "+sumTable+where, func(row *sql.Rows) error {
		if err := row.Scan(places...); err != nil {
			return err
		}
		at.Key.Currency = [3]byte{}
		copy(at.Key.Currency[:], currency)
		take(at, &m)
		return nil
	}, args...)
}

func (f *file) eachLatency(ctx context.Context, where string, take func(projection.LatencyPosition, histogram.Histogram), args ...any) error {
	var at projection.LatencyPosition
	var blob sql.RawBytes
	of := &at.Key.Key
	return f.each(ctx, "SELECT * FROM "+latencyTable+where, func(row *sql.Rows) error {
		if err := row.Scan(&at.Grouping, &at.Unit, &at.Start, &of.Campaign, &of.Supplier, &of.Buyer, &at.Key.Kind, &blob); err != nil {
			return err
		}
		h, err := histogram.Parse(blob)
		take(at, h)
		return err
	}, args...)
}
