package main

import (
	"fmt"
	"strconv"
	"time"

	"pingpost/engine/event"
	"pingpost/loadtest/bench/child"
	"pingpost/loadtest/ceiling"
)

// pair is two servers that are measured in turn: the exchange, and the server that it is
// compared with.
type pair struct {
	ours, theirs *ingestTarget
}

// runPair runs both servers of a pair in turn.
func (b *bench) runPair(p pair, connections int) (ours, theirs []child.LoadResult, err error) {
	one := func(s *ingestTarget) func() (child.LoadResult, error) {
		return rerunWhileNoisy(b.guard, func() (child.LoadResult, error) { return b.send(s, connections, b.size.warmup, b.size.duration) })
	}
	both, err := alternate(b.size.runs, one(p.ours), one(p.theirs))
	if err != nil {
		return nil, nil, err
	}
	return both[0], both[1], nil
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

// ingest compares durable ingest with the ceiling.
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
	dir, err := b.folder("ceiling")
	if err != nil {
		return nil, err
	}
	bare, err := b.startCeiling(child.CeilingSpec{Dir: dir, Options: ceiling.Options{Entry: entry, Answer: int(sample.Body)}})
	if err != nil {
		return nil, err
	}
	p := pair{ours: exchange, theirs: &ingestTarget{process: bare, campaigns: exchange.campaigns, next: new(uint64)}}
	if err := pause(bare.cmd.Process); err != nil {
		return nil, err
	}
	b.logf("log record of a lead: %d bytes, answer: %d bytes", entry, sample.Body)
	rows = append(rows, row{label: "bytes of a lead in the log, recorded alone", measured: strconv.Itoa(entry), figure: figureIngestBytes, value: float64(entry)})
	for _, connections := range b.size.connections {
		ours, theirs, err := b.runPair(p, connections)
		if err != nil {
			return nil, err
		}
		rows = append(rows, ingestRows(connections, ours, theirs)...)
	}
	if b.flags.Profile != "" {
		return rows, b.profile(exchange.process, b.flags.Profile, func() error {
			_, err := b.send(exchange, 256, 0, b.size.duration+2*time.Second)
			return err
		})
	}
	return rows, nil
}

func ingestRows(connections int, ours, theirs []child.LoadResult) []row {
	rows := closedLoopRows(fmt.Sprintf("durable ingest, %d connections: ", connections), ours, theirs, "", "")
	rows[0].goal, rows[0].verdict = "0.80, at least 0.70", atLeast(rows[0].value, 0.8, 0.7)
	rows[1] = rows[1].withGoal("1.5, at most 2 times", 1.5, 2)
	rows[2].figure = figureIngest.withSize(connections)
	return rows
}

// closedLoopRows compares the rate, the p99 and the CPU time of an exchange with those of
// its ceiling.
func closedLoopRows(what string, ours, theirs []child.LoadResult, aboutCeiling, aboutClient string) []row {
	rate := func(r *child.LoadResult) float64 { return r.Rate }
	p99 := func(r *child.LoadResult) float64 { return float64(r.Latency.P99) / 1e6 }
	busy := func(r *child.LoadResult) float64 { return 100 * r.Cores }
	spent := func(r *child.LoadResult) float64 { return 1e6 * r.ServerSecondsEach() }
	a, z := collect(ours, rate), collect(theirs, rate)
	ratio := a.ratioTo(z)
	return []row{
		{
			label:     what + "req/s over the ceiling's" + aboutCeiling,
			measured:  fmt.Sprintf("%.2f (%.0f of %.0f req/s)", ratio.median(), a.median(), z.median()),
			rangeText: ratio.rangeText("%.2f"), value: ratio.median(),
		},
		timesRow(what+"p99 over the ceiling's", collect(ours, p99), collect(theirs, p99), "%.2f and %.2f ms"),
		{
			label: what + "processor time of a lead",
			measured: fmt.Sprintf("%.1f µs, the ceiling's %.1f; the client kept %.0f and %.0f %% of a core busy%s",
				collect(ours, spent).median(), collect(theirs, spent).median(), collect(ours, busy).median(), collect(theirs, busy).median(), aboutClient),
			rangeText: collect(ours, spent).rangeText("%.1f"), value: collect(ours, spent).median(),
		},
	}
}
