package main

import (
	"fmt"
	"strconv"
	"time"

	"pingpost/engine/event"
	"pingpost/loadtest/bench/child"
	"pingpost/loadtest/ceiling"
)

// sendInTurn sends leads in a closed loop to some servers in turn, and returns the results of each.
func (b *bench) sendInTurn(connections int, servers ...*ingestTarget) ([][]child.LoadResult, error) {
	sides := make([]func() (child.LoadResult, error), 0, len(servers))
	for _, s := range servers {
		sides = append(sides, rerunWhileNoisy(b.guard, func() (child.LoadResult, error) { return b.send(s, connections, b.size.warmup, b.size.duration) }))
	}
	return alternate(b.size.runs, sides...)
}

// alternate runs the sides in turn, ours first, and returns the results of each side.
func alternate[R any](runs int, sides ...func() (R, error)) ([][]R, error) {
	results := make([][]R, len(sides))
	for range runs {
		for i, side := range sides {
			one, err := side()
			if err != nil && i > 0 {
				err = fmt.Errorf("the ceiling: %w", err)
			}
			if err != nil {
				return nil, err
			}
			results[i] = append(results[i], one)
		}
	}
	return results, nil
}

// ingest compares durable ingest with the ceiling, and with ingest without a report.
func (b *bench) ingest() (rows []row, err error) {
	exchange, err := b.startExchange("ingest", catalogWithCampaigns(10))
	if err != nil {
		return nil, err
	}
	sample, err := b.send(exchange, b.size.connections[0], 0, b.size.calibration)
	if err != nil {
		return nil, err
	}
	entry, err := averageRecord(exchange.data, event.KindLeadDecided)
	if err != nil {
		return nil, err
	}
	options := ceiling.Options{Entry: entry, Answer: int(sample.Body)}
	bare, err := b.startPausedCeiling("ceiling", exchange, options)
	if err != nil {
		return nil, err
	}
	options.HashAndEncrypt = true
	working, err := b.startPausedCeiling("ceiling-work", exchange, options)
	if err != nil {
		return nil, err
	}
	unreported, err := b.startPaused("ingest-unreported", catalogWithCampaigns(10).withoutReport())
	if err != nil {
		return nil, err
	}
	b.logf("log record of a lead: %d bytes, answer: %d bytes", entry, sample.Body)
	rows = append(rows, row{label: "bytes of a lead in the log, recorded alone", measured: strconv.Itoa(entry), figure: figureIngestBytes, value: float64(entry)})
	for _, connections := range b.size.connections {
		all, err := b.sendInTurn(connections, exchange, bare, unreported, working)
		if err != nil {
			return nil, err
		}
		rows = append(rows, ingestRows(connections, all[0], all[1], all[2])...)
		label := fmt.Sprintf("durable ingest, %d connections: req/s over those of a ceiling that hashes and encrypts as much", connections)
		rows = append(rows, rateRow(label, "req/s", all[0], all[3]).withLeast("0.9", 0.9))
	}
	if b.flags.Profile != "" {
		return rows, b.profile(exchange.process, b.flags.Profile, func() error {
			_, err := b.send(exchange, 256, 0, b.size.duration+2*time.Second)
			return err
		})
	}
	return rows, nil
}

// startPausedCeiling starts a ceiling of ingest that gets the campaigns of an exchange.
func (b *bench) startPausedCeiling(name string, exchange *ingestTarget, options ceiling.Options) (*ingestTarget, error) {
	dir, err := b.folder(name)
	if err != nil {
		return nil, err
	}
	p, err := b.startCeiling(child.CeilingSpec{Dir: dir, Options: options})
	if err != nil {
		return nil, err
	}
	return &ingestTarget{process: p, campaigns: exchange.campaigns, next: new(uint64)}, pause(p.cmd.Process)
}

// rateRow compares the rates of two sides.
func rateRow(label, unit string, ours, theirs []child.LoadResult) row {
	rate := func(r *child.LoadResult) float64 { return r.Rate }
	a, z := collect(ours, rate), collect(theirs, rate)
	ratio := a.ratioTo(z)
	return row{
		label: label, value: ratio.median(), rangeText: ratio.rangeText("%.2f"),
		measured: fmt.Sprintf("%.2f (%.0f of %.0f %s)", ratio.median(), a.median(), z.median(), unit),
	}
}

// withLeast judges the row's value, which must be at least the goal.
func (r row) withLeast(text string, goal float64) row {
	r.goal, r.verdict = text, atLeast(r.value, goal, goal)
	return r
}

// scaling compares ingest on one core, with the client on another one, with ingest on all cores, which the client
// shares.
func (b *bench) scaling() (rows []row, err error) {
	unpinned := *b
	unpinned.cores = cores{}
	onOne, err := b.startPaused("one-core", catalogWithCampaigns(10))
	if err != nil {
		return nil, err
	}
	onAll, err := unpinned.startPaused("all-cores", catalogWithCampaigns(10))
	if err != nil {
		return nil, err
	}
	for _, connections := range b.size.connections {
		side := func(b *bench, s *ingestTarget) func() (child.LoadResult, error) {
			return rerunWhileNoisy(b.guard, func() (child.LoadResult, error) { return b.send(s, connections, b.size.warmup, b.size.duration) })
		}
		both, err := alternate(b.size.runs, side(&unpinned, onAll), side(b, onOne))
		if err != nil {
			return nil, err
		}
		what := fmt.Sprintf("durable ingest, %d connections, all cores shared with the client: ", connections)
		rows = append(rows,
			rateRow(what+"req/s over those with one core", "req/s", both[0], both[1]).withLeast("1.6", 1.6),
			leadTimeRow(what, "with one core", "", both[0], both[1]))
	}
	return rows, nil
}

func ingestRows(connections int, ours, theirs, unreported []child.LoadResult) []row {
	what := fmt.Sprintf("durable ingest, %d connections: ", connections)
	rows := closedLoopRows(what, ours, theirs, "", "")
	rows[0] = rows[0].withLeast("0.65", 0.65)
	rows[1] = rows[1].withGoal("1.7 times", 1.7, 1.7)
	rows[2].figure = figureIngest.withSize(connections)
	return append(rows, withoutReportRows(what, "req/s", ours, theirs, unreported)...)
}

// withoutReportRows compares the rate of an exchange with that of one without a report, and the rate of
// the latter with that of the ceiling.
func withoutReportRows(what, unit string, ours, theirs, unreported []child.LoadResult) []row {
	return []row{
		rateRow(what+unit+" over that without a report", unit, ours, unreported).withLeast("0.93", 0.93),
		rateRow(what+unit+" without a report, over the ceiling's", unit, unreported, theirs),
	}
}

// closedLoopRows compares the rate, the p99 and the CPU time of an exchange with those of
// its ceiling.
func closedLoopRows(what string, ours, theirs []child.LoadResult, aboutCeiling, aboutClient string) []row {
	p99 := func(r *child.LoadResult) float64 { return float64(r.Latency.P99) / 1e6 }
	return []row{
		rateRow(what+"req/s over the ceiling's"+aboutCeiling, "req/s", ours, theirs),
		timesRow(what+"p99 over the ceiling's", collect(ours, p99), collect(theirs, p99), "%.2f and %.2f ms"),
		leadTimeRow(what, "the ceiling's", aboutClient, ours, theirs),
	}
}

// leadTimeRow shows the server's processor time of a lead for both sides, and how busy their clients were.
func leadTimeRow(what, theirName, aboutClient string, ours, theirs []child.LoadResult) row {
	busy := func(r *child.LoadResult) float64 { return 100 * r.Cores }
	spent := func(r *child.LoadResult) float64 { return 1e6 * r.ServerSecondsEach() }
	return row{
		label: what + "processor time of a lead",
		measured: fmt.Sprintf("%.1f µs, %s %.1f; the client kept %.0f and %.0f %% of a core busy%s",
			collect(ours, spent).median(), theirName, collect(theirs, spent).median(), collect(ours, busy).median(), collect(theirs, busy).median(), aboutClient),
		rangeText: collect(ours, spent).rangeText("%.1f"), value: collect(ours, spent).median(),
	}
}
