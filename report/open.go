package report

import (
	"context"
	"database/sql"
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
	cells map[cellAt]*measures
	paces map[paceAt]*histogram
	times int // in paces
	most  int

	quarter int64 // that they were last looked through in
}

// mostOpen bounds them, which is 30 MB or so: where there are more, all are written before
// their time, to be added to, and removed where the file is opened again.
const (
	mostOpen     = 100_000
	timesOfACell = 16 // which take as much memory as a cell
)

func newOpenSums() *openSums {
	return &openSums{cells: map[cellAt]*measures{}, paces: map[paceAt]*histogram{}, most: mostOpen}
}

// atOnce tells whether sums are written with every batch.
func atOnce(g grain, unit int64) bool { return unit == quarters && (g == fine || g == parties) }

// over tells whether a unit is over, at a quarter.
func over(unit, start, quarter int64) bool { return (start+1)*unit <= quarter }

// full tells that there are too many.
func (o *openSums) full() bool { return len(o.cells)+len(o.paces)+o.times/timesOfACell > o.most }

// clock adds times.
func (o *openSums) clock(at paceAt, h histogram) {
	to := into(o.paces, at)
	o.times -= len(*to)
	to.add(h)
	o.times += len(*to)
}

// reopen learns what is open from what the file has: days from their hours that are over,
// and all else from the quarters of the hour that is not.
func (f *file) reopen(ctx context.Context) error {
	now := quarterOf(f.place.at)
	day, hour := floorDiv(now, days), floorDiv(now, hours)
	for _, table := range []string{cells, paces} {
		for _, g := range grains {
			for _, unit := range g.units() {
				if atOnce(g, unit) {
					continue
				}
				if err := f.exec(ctx, "DELETE FROM "+table+" WHERE grain = ? AND unit = ? AND start >= ?", g, unit, floorDiv(now, unit)); err != nil {
					return err
				}
			}
		}
	}
	const hoursOver = " WHERE grain < 63 AND unit = 4 AND start >= ? AND start < ?"
	if err := f.eachCell(ctx, hoursOver, func(at cellAt, m *measures) {
		at.unit, at.start = days, day
		into(f.open.cells, at).add(m)
	}, day*days/hours, hour); err != nil {
		return err
	}
	if err := f.eachPace(ctx, hoursOver, func(at paceAt, h histogram) {
		at.unit, at.start = days, day
		f.open.clock(at, h)
	}, day*days/hours, hour); err != nil {
		return err
	}
	begun := map[cell]*measures{}
	if err := f.eachCell(ctx, " WHERE grain = 63 AND unit = 1 AND start >= ?", func(at cellAt, m *measures) {
		at.of.quarter = at.start
		into(begun, at.of).add(m)
	}, hour*hours); err != nil {
		return err
	}
	for at, m := range rolled(begun, f.breath.take) {
		if !atOnce(at.grain, at.unit) && !over(at.unit, at.start, now) {
			into(f.open.cells, at).add(m)
		}
	}
	clocked := map[pace]*histogram{}
	if err := f.eachPace(ctx, " WHERE grain = 7 AND unit = 1 AND start >= ?", func(at paceAt, h histogram) {
		at.pace.of.quarter = at.start
		into(clocked, at.pace).add(h)
	}, hour*hours); err != nil {
		return err
	}
	for at, h := range rolledPaces(clocked, f.breath.take) {
		if !atOnce(at.grain, at.unit) && !over(at.unit, at.start, now) {
			f.open.clock(at, *h)
		}
	}
	return nil
}

func (f *file) eachCell(ctx context.Context, where string, take func(cellAt, *measures), args ...any) error {
	var at cellAt
	var currency string
	var m measures
	places := make([]any, 0, len(cellKey)+countMeasures)
	places = append(places, &at.grain, &at.unit, &at.start, &at.of.campaign, &at.of.supplier, &at.of.buyer, &at.of.source, &at.of.state, &at.of.reason, &currency)
	for i := range m {
		places = append(places, &m[i])
	}
	return f.each(ctx, "SELECT * FROM "+cells+where, func(row *sql.Rows) error {
		if err := row.Scan(places...); err != nil {
			return err
		}
		at.of.currency = [3]byte{}
		copy(at.of.currency[:], currency)
		take(at, &m)
		return nil
	}, args...)
}

func (f *file) eachPace(ctx context.Context, where string, take func(paceAt, histogram), args ...any) error {
	var at paceAt
	var blob sql.RawBytes
	of := &at.pace.of
	return f.each(ctx, "SELECT * FROM "+paces+where, func(row *sql.Rows) error {
		if err := row.Scan(&at.grain, &at.unit, &at.start, &of.campaign, &of.supplier, &of.buyer, &at.pace.kind, &blob); err != nil {
			return err
		}
		h, err := histogramOf(blob)
		take(at, h)
		return err
	}, args...)
}
