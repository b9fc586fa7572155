package report

import (
	"context"
	"slices"

	"pingpost/report/histogram"
	"pingpost/report/projection"
)

// addBatchSumsToStoredAndOpen adds a batch's sums to the stored ones. It writes the sums of hours and
// days that have ended and those that are always written, and keeps the others in memory.
func (f *reportDatabase) addBatchSumsToStoredAndOpen(ctx context.Context, b *projection.ChangeBatch) error {
	now := projection.QuarterHourOf(b.At)
	cellsTo, pacesTo := f.newSumWriter(ctx), f.newLatencyWriter(ctx)
	for at, m := range projection.RollUpSums(b.Sums, f.throttle.sleepIfDue) {
		if isSumWrittenWithEachBatch(at.Grouping, at.Unit) || hasUnitEndedBefore(at.Unit, at.Start, now) {
			if err := cellsTo.mergeIntoSumRow(at, m); err != nil {
				return err
			}
			continue
		}
		projection.GetOrInsert(f.openSums.sums, at).Add(m)
	}
	for at, h := range projection.RollUpLatencies(b.Latencies, f.throttle.sleepIfDue) {
		if isSumWrittenWithEachBatch(at.Grouping, at.Unit) || hasUnitEndedBefore(at.Unit, at.Start, now) {
			if err := pacesTo.mergeIntoLatencyRow(at, h); err != nil {
				return err
			}
			continue
		}
		f.openSums.addToLatencySum(at, *h)
	}
	if full := f.openSums.isFull(); full || now != f.openSums.lastQuarter {
		is := func(unit, start int64) bool { return full || hasUnitEndedBefore(unit, start, now) }
		if err := f.writeAndForgetDueSums(is, cellsTo, pacesTo); err != nil {
			return err
		}
		f.openSums.lastQuarter = now
	}
	if err := cellsTo.writeBufferedRows(); err != nil {
		return err
	}
	return pacesTo.writeBufferedRows()
}

// writeAndForgetDueSums writes the sums in memory for which isDue returns true, and removes
// them from memory. It writes the sums in the order of their table, because the table is
// larger than SQLite's cache and an hour ends with many sums.
func (f *reportDatabase) writeAndForgetDueSums(isDue func(unit, unitNumber int64) bool, sumsTo sumWriter, latenciesTo latencyWriter) error {
	var over []projection.SumRowPrimaryKey
	for at := range f.openSums.sums {
		f.throttle.sleepIfDue()
		if isDue(at.Unit, at.Start) {
			over = append(over, at)
		}
	}
	slices.SortFunc(over, func(a, b projection.SumRowPrimaryKey) int {
		f.throttle.sleepIfDue()
		return a.Compare(b)
	})
	for _, at := range over {
		if err := sumsTo.mergeIntoSumRow(at, f.openSums.sums[at]); err != nil {
			return err
		}
		delete(f.openSums.sums, at)
	}
	for at, h := range f.openSums.latencies {
		if isDue(at.Unit, at.Start) {
			if err := latenciesTo.mergeIntoLatencyRow(at, h); err != nil {
				return err
			}
			f.openSums.latencySlots -= len(*h)
			delete(f.openSums.latencies, at)
		}
	}
	return nil
}

type (
	sumWriter     struct{ *tableRowWriter }
	latencyWriter struct{ *tableRowWriter }
)

func (f *reportDatabase) newSumWriter(ctx context.Context) sumWriter {
	return sumWriter{f.newSumAddingWriter(ctx, sumTable, sumKeyColumns, projection.MeasureNames)}
}

func (w sumWriter) mergeIntoSumRow(position projection.SumRowPrimaryKey, measures *projection.Measures) error {
	c := &position.Key
	row := make([]any, 0, len(sumKeyColumns)+projection.MeasureCount)
	row = append(row, position.Grouping, position.Unit, position.Start, c.Campaign, c.Supplier, c.Buyer, c.Source, c.State, c.Reason, c.Currency.String())
	for _, n := range measures {
		row = append(row, n)
	}
	return w.add(row...)
}

func (f *reportDatabase) newLatencyWriter(ctx context.Context) latencyWriter {
	return latencyWriter{f.newMergingWriter(ctx, latencyTable, latencyKeyColumns, []string{"times"}, []string{"times = " + histogram.AddFunction + "(times, excluded.times)"})}
}

func (w latencyWriter) mergeIntoLatencyRow(position projection.LatencyRowPrimaryKey, latencies *histogram.Histogram) error {
	of := &position.Key.Key
	return w.add(position.Grouping, position.Unit, position.Start, of.Campaign, of.Supplier, of.Buyer, position.Key.Kind, latencies.AppendEncodedTo(nil))
}
