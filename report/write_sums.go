package report

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// writeSums writes what a batch adds up to: at once what is, and else what is over.
func (f *file) writeSums(ctx context.Context, b *batch) error {
	now := quarterOf(b.at)
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
		f.open.clock(at, *h)
	}
	if full := f.open.full(); full || now != f.open.quarter {
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

// end writes the open sums of some units, in the order of the table: it is larger than
// SQLite's cache, and at an hour's end there are many.
func (f *file) end(is func(unit, start int64) bool, cellsTo cellsTo, pacesTo pacesTo) error {
	var over []cellAt
	for at := range f.open.cells {
		if is(at.unit, at.start) {
			over = append(over, at)
		}
	}
	slices.SortFunc(over, cellAt.compare)
	for _, at := range over {
		if err := cellsTo.write(at, f.open.cells[at]); err != nil {
			return err
		}
		delete(f.open.cells, at)
	}
	for at, h := range f.open.paces {
		if is(at.unit, at.start) {
			if err := pacesTo.write(at, h); err != nil {
				return err
			}
			f.open.times -= len(*h)
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

// compare is the order of the table.
func (at cellAt) compare(with cellAt) int {
	a, b := &at.of, &with.of
	return cmp.Or(
		cmp.Compare(at.grain, with.grain), cmp.Compare(at.unit, with.unit), cmp.Compare(at.start, with.start),
		cmp.Compare(a.campaign, b.campaign), cmp.Compare(a.supplier, b.supplier), cmp.Compare(a.buyer, b.buyer),
		cmp.Compare(a.source, b.source), strings.Compare(a.state, b.state), cmp.Compare(a.reason, b.reason),
	)
}
