package report

import (
	"context"
	"slices"

	"pingpost/report/histogram"
	"pingpost/report/projection"
)

// addBatchSums adds a batch's sums to the stored ones. It writes the sums of hours and days
// that have ended and those that are always written, and keeps the others in memory.
func (f *reportFile) addBatchSums(ctx context.Context, b *projection.Batch) error {
	now := projection.QuarterOf(b.At)
	cellsTo, pacesTo := f.newSumWriter(ctx), f.newLatencyWriter(ctx)
	for at, m := range projection.RollUp(b.Sums, f.throttle.restIfDue) {
		if isAlwaysWritten(at.Grouping, at.Unit) || hasEndedBefore(at.Unit, at.Start, now) {
			if err := cellsTo.write(at, m); err != nil {
				return err
			}
			continue
		}
		projection.GetOrInsert(f.openSums.sums, at).Add(m)
	}
	for at, h := range projection.RollUpLatencies(b.Latencies, f.throttle.restIfDue) {
		if isAlwaysWritten(at.Grouping, at.Unit) || hasEndedBefore(at.Unit, at.Start, now) {
			if err := pacesTo.write(at, h); err != nil {
				return err
			}
			continue
		}
		f.openSums.mergeLatencies(at, *h)
	}
	if full := f.openSums.isFull(); full || now != f.openSums.lastQuarter {
		is := func(unit, start int64) bool { return full || hasEndedBefore(unit, start, now) }
		if err := f.writeOpenSums(is, cellsTo, pacesTo); err != nil {
			return err
		}
		f.openSums.lastQuarter = now
	}
	if err := cellsTo.writeBufferedRows(); err != nil {
		return err
	}
	return pacesTo.writeBufferedRows()
}

// writeOpenSums writes the sums in memory for which isDue returns true, and removes them from
// memory. It writes in the order of the table, because the table is larger than SQLite's
// cache and an hour ends with many sums.
func (f *reportFile) writeOpenSums(isDue func(unit, start int64) bool, cellsTo sumWriter, pacesTo latencyWriter) error {
	var over []projection.SumPosition
	for at := range f.openSums.sums {
		if isDue(at.Unit, at.Start) {
			over = append(over, at)
		}
	}
	slices.SortFunc(over, projection.SumPosition.Compare)
	for _, at := range over {
		if err := cellsTo.write(at, f.openSums.sums[at]); err != nil {
			return err
		}
		delete(f.openSums.sums, at)
	}
	for at, h := range f.openSums.latencies {
		if isDue(at.Unit, at.Start) {
			if err := pacesTo.write(at, h); err != nil {
				return err
			}
			f.openSums.latencySlots -= len(*h)
			delete(f.openSums.latencies, at)
		}
	}
	return nil
}

type (
	sumWriter     struct{ *rowWriter }
	latencyWriter struct{ *rowWriter }
)

func (f *reportFile) newSumWriter(ctx context.Context) sumWriter {
	return sumWriter{f.newSumAddingWriter(ctx, sumTable, sumKeyColumns, projection.MeasureNames)}
}

func (w sumWriter) write(at projection.SumPosition, m *projection.Measures) error {
	c := &at.Key
	row := make([]any, 0, len(sumKeyColumns)+projection.MeasureCount)
	row = append(row, at.Grouping, at.Unit, at.Start, c.Campaign, c.Supplier, c.Buyer, c.Source, c.State, c.Reason, c.Currency.String())
	for _, n := range m {
		row = append(row, n)
	}
	return w.add(row...)
}

func (f *reportFile) newLatencyWriter(ctx context.Context) latencyWriter {
	return latencyWriter{f.newMergingWriter(ctx, latencyTable, latencyKeyColumns, []string{"times"}, []string{"times = " + histogram.AddFunction + "(times, excluded.times)"})}
}

func (w latencyWriter) write(at projection.LatencyPosition, h *histogram.Histogram) error {
	of := &at.Key.Key
	return w.add(at.Grouping, at.Unit, at.Start, of.Campaign, of.Supplier, of.Buyer, at.Key.Kind, h.AppendTo(nil))
}
