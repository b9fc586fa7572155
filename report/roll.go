package report

// cellAt is where a sum is kept.
type cellAt struct {
	grain grain
	unit  int64
	start int64 // in units
	of    cell  // without its quarter
}

// only is the cell without what a grain does not tell apart.
func (c cell) only(g grain) cell {
	if !g.tells(grainOf(BySupplier)) {
		c.supplier = 0
	}
	if !g.tells(grainOf(ByBuyer)) {
		c.buyer = 0
	}
	if !g.tells(grainOf(ByCampaign)) {
		c.campaign = 0
	}
	if !g.tells(grainOf(BySource)) {
		c.source = 0
	}
	if !g.tells(grainOf(ByState)) {
		c.state = ""
	}
	if !g.tells(grainOf(ByReason)) {
		c.reason = 0
	}
	return c
}

// each calls for the units of a grain that a quarter is in.
func (g grain) each(quarter int64, add func(unit, start int64)) {
	for _, unit := range g.units() {
		add(unit, floorDiv(quarter, unit))
	}
}

// rolled adds fine cells up to all grains and units. It is done once for a batch: to count
// into each of them would be dozens of sums for each bid. It rests now and then, as who
// writes does.
func rolled(begun map[cell]*measures, rest func()) map[cellAt]*measures {
	all := make(map[cellAt]*measures, 4*len(begun))
	of := map[grain]map[cell]*measures{fine: begun}
	for _, r := range rollups {
		of[r.grain] = make(map[cell]*measures)
		for c, m := range of[r.from] {
			into(of[r.grain], c.only(r.grain)).add(m)
		}
		rest()
	}
	for g, cells := range of {
		for c, m := range cells {
			quarter := c.quarter
			c.quarter = 0
			g.each(quarter, func(unit, start int64) { into(all, cellAt{g, unit, start, c}).add(m) })
		}
		rest()
	}
	return all
}

// rolledPaces does the same for the times that buyers took, which are told apart by
// parties alone.
func rolledPaces(begun map[pace]*histogram, rest func()) map[paceAt]*histogram {
	all := make(map[paceAt]*histogram, 4*len(begun))
	of := map[grain]map[pace]*histogram{parties: begun}
	for _, r := range rollups {
		if r.grain == parties || !parties.tells(r.grain) {
			continue
		}
		of[r.grain] = make(map[pace]*histogram)
		for p, h := range of[r.from] {
			p.of = p.of.only(r.grain)
			into(of[r.grain], p).add(*h)
		}
		rest()
	}
	for g, paces := range of {
		for p, h := range paces {
			quarter := p.of.quarter
			p.of.quarter = 0
			g.each(quarter, func(unit, start int64) { into(all, paceAt{g, unit, start, p}).add(*h) })
		}
		rest()
	}
	return all
}
