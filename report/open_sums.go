package report

import (
	"context"
	"database/sql"

	"pingpost/report/histogram"
	"pingpost/report/projection"
)

// openPeriodSums holds, only in memory, the sums of hours and days that have not ended. The
// database gets each one once, when its hour or day ends. Written with every batch, they
// would be dozens of rows per lead.
//
// An answer reads unfinished time from the sums by quarter of an hour, of the two groupings
// that are always written. Opening the database computes the open sums from these.
//
// The time of the last log entry decides which hours and days have ended, not the clock. A
// change to an earlier sum is written at once.
type openPeriodSums struct {
	sums         map[projection.SumRowPrimaryKey]*projection.Measures
	latencies    map[projection.LatencyRowPrimaryKey]*histogram.Histogram
	latencySlots int // in latencies
	limit        int

	lastQuarter int64 // when ended units were last written
}

// defaultMaxOpenSums limits the memory to about 30 MB. Above it all open sums are written
// early. Later changes add to them, and the next opening deletes and recomputes them.
const (
	defaultMaxOpenSums = 100_000
	slotsPerSum        = 16 // that many slots use the memory of one sum
)

func newOpenPeriodSums() *openPeriodSums {
	return &openPeriodSums{sums: map[projection.SumRowPrimaryKey]*projection.Measures{}, latencies: map[projection.LatencyRowPrimaryKey]*histogram.Histogram{}, limit: defaultMaxOpenSums}
}

// isSumWrittenWithEachBatch reports whether each batch writes the sums of this grouping and unit of
// time to the database. All other sums stay in memory until their hour or day ends.
func isSumWrittenWithEachBatch(grouping projection.DimensionColumnSet, unit int64) bool {
	return unit == projection.Quarters && (grouping == projection.AllColumns || grouping == projection.Parties)
}

// hasUnitEndedBefore reports whether an hour or day has ended when the quarter of an hour quarterNumber
// begins. quartersPerUnit is the length of the hour or day in quarters, 4 or 96. unitNumber is the
// number of the hour or day.
func hasUnitEndedBefore(quartersPerUnit, unitNumber, quarterNumber int64) bool {
	return (unitNumber+1)*quartersPerUnit <= quarterNumber
}

// isFull reports whether there are too many sums in memory, so that they must be written
// early.
func (o *openPeriodSums) isFull() bool {
	return len(o.sums)+len(o.latencies)+o.latencySlots/slotsPerSum > o.limit
}

// addToLatencySum adds a histogram of latencies to the open sum at this position.
func (o *openPeriodSums) addToLatencySum(position projection.LatencyRowPrimaryKey, h histogram.Histogram) {
	to := projection.GetOrInsert(o.latencies, position)
	o.latencySlots -= len(*to)
	to.Add(h)
	o.latencySlots += len(*to)
}

// rebuildOpenPeriodSums computes the sums of the current hour and day from the database after
// it was opened: the day from its finished hours, and the rest from the quarters of the
// unfinished hour. It first deletes unfinished sums that were written early.
func (f *reportDatabase) rebuildOpenPeriodSums(ctx context.Context) error {
	now := projection.QuarterHourOf(f.position.at)
	day, hour := projection.DivideRoundingDown(now, projection.Days), projection.DivideRoundingDown(now, projection.Hours)
	for _, table := range []string{sumTable, latencyTable} {
		for _, g := range projection.Groupings {
			for _, unit := range g.StoredUnitsInQuarterHours() {
				if isSumWrittenWithEachBatch(g, unit) {
					continue
				}
				if err := f.executeStatement(ctx, "DELETE FROM "+table+" WHERE grain = ? AND unit = ? AND start >= ?", g, unit, projection.DivideRoundingDown(now, unit)); err != nil {
					return err
				}
			}
		}
	}
	const hoursOver = " WHERE grain < 63 AND unit = 4 AND start >= ? AND start < ?"
	if err := f.forEachStoredSum(ctx, hoursOver, func(at projection.SumRowPrimaryKey, m *projection.Measures) {
		at.Unit, at.Start = projection.Days, day
		projection.GetOrInsert(f.openSums.sums, at).Add(m)
	}, day*projection.Days/projection.Hours, hour); err != nil {
		return err
	}
	if err := f.forEachStoredHistogram(ctx, hoursOver, func(at projection.LatencyRowPrimaryKey, h histogram.Histogram) {
		at.Unit, at.Start = projection.Days, day
		f.openSums.addToLatencySum(at, h)
	}, day*projection.Days/projection.Hours, hour); err != nil {
		return err
	}
	begun := map[projection.SumDimensionValues]*projection.Measures{}
	if err := f.forEachStoredSum(ctx, " WHERE grain = 63 AND unit = 1 AND start >= ?", func(at projection.SumRowPrimaryKey, m *projection.Measures) {
		at.Key.Quarter = at.Start
		projection.GetOrInsert(begun, at.Key).Add(m)
	}, hour*projection.Hours); err != nil {
		return err
	}
	for at, m := range projection.RollUpSums(begun, f.throttle.sleepIfDue) {
		if !isSumWrittenWithEachBatch(at.Grouping, at.Unit) && !hasUnitEndedBefore(at.Unit, at.Start, now) {
			projection.GetOrInsert(f.openSums.sums, at).Add(m)
		}
	}
	clocked := map[projection.LatencyKey]*histogram.Histogram{}
	if err := f.forEachStoredHistogram(ctx, " WHERE grain = 7 AND unit = 1 AND start >= ?", func(at projection.LatencyRowPrimaryKey, h histogram.Histogram) {
		at.Key.Key.Quarter = at.Start
		projection.GetOrInsert(clocked, at.Key).Add(h)
	}, hour*projection.Hours); err != nil {
		return err
	}
	for at, h := range projection.RollUpLatencies(clocked, f.throttle.sleepIfDue) {
		if !isSumWrittenWithEachBatch(at.Grouping, at.Unit) && !hasUnitEndedBefore(at.Unit, at.Start, now) {
			f.openSums.addToLatencySum(at, *h)
		}
	}
	return nil
}

func (f *reportDatabase) forEachStoredSum(ctx context.Context, whereClause string, visit func(projection.SumRowPrimaryKey, *projection.Measures), args ...any) error {
	var at projection.SumRowPrimaryKey
	var currency string
	var m projection.Measures
	places := make([]any, 0, len(sumKeyColumns)+projection.MeasureCount)
	places = append(places, &at.Grouping, &at.Unit, &at.Start, &at.Key.Campaign, &at.Key.Supplier, &at.Key.Buyer, &at.Key.Source, &at.Key.State, &at.Key.Reason, &currency)
	for i := range m {
		places = append(places, &m[i])
	}
	return f.forEachQueryRow(ctx, "SELECT * FROM "+sumTable+whereClause, func(row *sql.Rows) error {
		if err := row.Scan(places...); err != nil {
			return err
		}
		at.Key.Currency = [3]byte{}
		copy(at.Key.Currency[:], currency)
		visit(at, &m)
		return nil
	}, args...)
}

func (f *reportDatabase) forEachStoredHistogram(ctx context.Context, whereClause string, visit func(projection.LatencyRowPrimaryKey, histogram.Histogram), args ...any) error {
	var at projection.LatencyRowPrimaryKey
	var blob sql.RawBytes
	of := &at.Key.Key
	return f.forEachQueryRow(ctx, "SELECT * FROM "+latencyTable+whereClause, func(row *sql.Rows) error {
		if err := row.Scan(&at.Grouping, &at.Unit, &at.Start, &of.Campaign, &of.Supplier, &of.Buyer, &at.Key.Kind, &blob); err != nil {
			return err
		}
		h, err := histogram.ParseStored(blob)
		visit(at, h)
		return err
	}, args...)
}
