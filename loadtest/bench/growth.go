package main

import (
	"fmt"
	"path/filepath"

	"pingpost/loadtest/bench/child"
)

// growth compares exchanges that have large catalogs with an exchange that has a small
// one.
func (b *bench) growth() ([]row, error) {
	small, err := b.startPaused("small", catalogWithCampaigns(10))
	if err != nil {
		return nil, err
	}
	few := catalogWithCampaigns(10)
	var rows []row
	many, err := b.startPaused("campaigns", catalogWithCampaigns(b.size.campaigns))
	if err != nil {
		return nil, err
	}
	rows, err = b.growthRows(rows, many, small, fmt.Sprintf("%d campaigns instead of 10", b.size.campaigns), 0)
	many.kill()
	if err != nil {
		return nil, err
	}
	d := catalogWithBuyers(b.size.buyers)
	crowd, err := b.startPaused("buyers", d)
	if err != nil {
		return nil, err
	}
	for _, method := range []string{roundRobin, waterfall} {
		ours, theirs := crowd.withCampaigns(d.campaignIDs(method)), small.withCampaigns(few.campaignIDs(method))
		what := fmt.Sprintf("%d buyers in one campaign instead of 4, %s", b.size.buyers, method)
		if rows, err = b.growthRows(rows, ours, theirs, what, b.size.buyers-4); err != nil {
			return nil, err
		}
	}
	listed := catalogWithCampaigns(10)
	if err := b.addSuppressionList(listed); err != nil {
		return nil, err
	}
	suppressing, err := b.startPaused("suppression", listed)
	if err != nil {
		return nil, err
	}
	return b.growthRows(rows, suppressing, small, fmt.Sprintf("%d suppressed numbers instead of 0", b.size.suppressedNumbers), 0)
}

func (b *bench) startPaused(name string, d *document) (*ingestTarget, error) {
	s, err := b.startExchange(name, d)
	if err != nil {
		return nil, err
	}
	return s, pause(s.cmd.Process)
}

func (b *bench) addSuppressionList(d *document) error {
	path := filepath.Join(b.dir, "dnc.txt")
	d.addSuppressionList(path)
	return writeList(path, b.size.suppressedNumbers)
}

// growthRows measures two exchanges in turn. addedBuyers is the number of buyers that ours has more than
// theirs. If it is not 0, a row shows the CPU time for each of them.
func (b *bench) growthRows(rows []row, large, small *ingestTarget, what string, addedBuyers int) ([]row, error) {
	both, err := b.sendInTurn(b.size.growthConnections, large, small)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	ours, theirs := both[0], both[1]
	half := func(r *child.LoadResult) float64 { return float64(r.Latency.P50) / 1e6 }
	spent := func(r *child.LoadResult) float64 { return 1e9 * r.ServerSecondsEach() }
	rows = append(rows, timesRow(what+": p50", collect(ours, half), collect(theirs, half), "%.2f and %.2f ms").withGoal("at most 1.2 times", 1.2, 1.2))
	if addedBuyers > 0 {
		each := make(series, len(ours))
		for i := range ours {
			each[i] = (spent(&ours[i]) - spent(&theirs[i])) / float64(addedBuyers)
		}
		rows = append(rows, row{
			label:    what + ": processor time of a lead for each buyer more",
			measured: fmt.Sprintf("%.1f ns", each.median()), rangeText: each.rangeText("%.1f"),
		})
	}
	return rows, nil
}

// Rates and sizes of the comparison of caps that fill.
const (
	cappedRate        = 2000 // leads/s
	cappedCampaigns   = 1000
	buyersPerCampaign = 20
	mostLeadsPerCap   = 12
)

// fillingCaps compares an exchange where buyers' caps fill one after the other with one where caps never
// fill. Each cap that fills makes a buyer unavailable for its campaign.
func (b *bench) fillingCaps() ([]row, error) {
	var exchanges []*ingestTarget
	for _, perCap := range []int{mostLeadsPerCap, unreachedCount} {
		e, err := b.startPaused(fmt.Sprintf("caps-%d", perCap), catalogWithCaps(min(cappedCampaigns, b.size.campaigns), perCap))
		if err != nil {
			return nil, err
		}
		exchanges = append(exchanges, e)
	}
	side := func(e *ingestTarget) func() (child.LoadResult, error) {
		return rerunWhileNoisy(b.guard, func() (r child.LoadResult, err error) {
			err = e.whileResumed(func() (err error) {
				r, err = b.sendAtRate(e, cappedRate, b.size.warmup, b.size.duration)
				return err
			})
			return r, err
		})
	}
	both, err := alternate(b.size.runs, side(exchanges[0]), side(exchanges[1]))
	if err != nil {
		return nil, err
	}
	p99 := func(r *child.LoadResult) float64 { return float64(r.Latency.P99) / 1e6 }
	spent := func(r *child.LoadResult) float64 { return 1e6 * r.ServerSecondsEach() }
	what := fmt.Sprintf("%d leads/s, open loop, to %d campaigns of %d buyers with caps that fill, over that with caps that never fill: ",
		cappedRate, min(cappedCampaigns, b.size.campaigns), buyersPerCampaign)
	return []row{
		timesRow(what+"processor time of a lead", collect(both[0], spent), collect(both[1], spent), "%.1f and %.1f µs"),
		timesRow(what+"p99", collect(both[0], p99), collect(both[1], p99), "%.2f and %.2f ms").withGoal("at most 1.5 times", 1.5, 1.5),
	}, nil
}
