package report

import "context"

// writeSums writes what a batch adds up to: at once what is, and else what is over.
func (f *file) writeSums(ctx context.Context, b *batch) error {
	now := quarterOf(b.at)
	full := f.open.full()
	ends := full || now != f.open.quarter
	cellsTo, pacesTo := f.cellsTo(ctx), f.pacesTo(ctx)
	for at, m := range rolled(b.fine, f.breath.take) {
		if atOnce(at.grain, at.unit) || over(at.unit, at.start, now) {
			if err := cellsTo.write(at, m); err != nil {
				return err
			}
			continue
		}
		into(f.open.cells, at).add(m)
	}
	for at, h := range rolledPaces(b.paces, f.breath.take) {
		if atOnce(at.grain, at.unit) || over(at.unit, at.start, now) {
			if err := pacesTo.write(at, h); err != nil {
				return err
			}
			continue
		}
		into(f.open.paces, at).add(*h)
	}
	if ends {
		is := func(unit, start int64) bool { return full || over(unit, start, now) }
		if err := f.end(is, cellsTo, pacesTo); err != nil {
			return err
		}
		f.open.quarter = now
	}
	if err := cellsTo.done(); err != nil {
		return err
	}
	return pacesTo.done()
}

// end writes the open sums of some units.
func (f *file) end(is func(unit, start int64) bool, cellsTo cellsTo, pacesTo pacesTo) error {
	for at, m := range f.open.cells {
		if is(at.unit, at.start) {
			if err := cellsTo.write(at, m); err != nil {
				return err
			}
			delete(f.open.cells, at)
		}
	}
	for at, h := range f.open.paces {
		if is(at.unit, at.start) {
			if err := pacesTo.write(at, h); err != nil {
				return err
			}
			delete(f.open.paces, at)
		}
	}
	return nil
}

type (
	cellsTo struct{ *bulk }
	pacesTo struct{ *bulk }
)

func (f *file) cellsTo(ctx context.Context) cellsTo {
	return cellsTo{f.sumsOf(ctx, cells, cellKey, measureNames)}
}

func (w cellsTo) write(at cellAt, m *measures) error {
	c := &at.of
	row := make([]any, 0, len(cellKey)+countMeasures)
	row = append(row, at.grain, at.unit, at.start, c.campaign, c.supplier, c.buyer, c.source, c.state, c.reason, c.currency.String())
	for _, n := range m {
		row = append(row, n)
	}
	return w.add(row...)
}

func (f *file) pacesTo(ctx context.Context) pacesTo {
	return pacesTo{f.mergesOf(ctx, paces, paceKey, []string{"times"}, []string{"times = " + addTimes + "(times, excluded.times)"})}
}

func (w pacesTo) write(at paceAt, h *histogram) error {
	of := &at.pace.of
	return w.add(at.grain, at.unit, at.start, of.campaign, of.supplier, of.buyer, at.pace.kind, h.appendTo(nil))
}
