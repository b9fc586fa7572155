package main

import (
	"fmt"
	"strconv"
	"time"

	"pingpost/engine/event"
)

// pair is two servers that take turns: the one in question, and what it is
// measured against.
type pair struct {
	ours, theirs *seller
	beside       []*process // that both need, and that go on all the time
}

// turns runs both sides of a pair in turn, as often as there are runs.
func (b *bench) turns(p pair, connections int) (ours, theirs []clientResult, err error) {
	live := append([]*process{p.ours.process, p.theirs.process}, p.beside...)
	one := func(s *seller) (r clientResult, err error) {
		err = b.guard.measure(live, func() (err error) {
			r, err = b.send(s, connections, b.size.warmup, b.size.lasting)
			return err
		})
		return r, err
	}
	both, err := alternate(b.size.runs,
		func() (clientResult, error) { return one(p.ours) },
		func() (clientResult, error) { return one(p.theirs) })
	if err != nil {
		return nil, nil, err
	}
	return both[0], both[1], nil
}

// alternate runs the sides in turn, the one in question first. What a side gave
// stands at its place.
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

// ingest compares durable ingest with the bare server.
func (b *bench) ingest() (rows []row, err error) {
	exchange, err := b.startExchange("ingest", catalogOf(10))
	if err != nil {
		return nil, err
	}
	defer exchange.end()
	sample, err := b.send(exchange, b.size.connections[0], 0, b.size.calibration)
	if err != nil {
		return nil, err
	}
	entry, err := averageEntry(exchange.data, event.KindLeadDecided)
	if err != nil {
		return nil, err
	}
	dir, err := b.folder("ceiling")
	if err != nil {
		return nil, err
	}
	bare, err := startCeiling(b.ctx, b.cores.servers, bareSpec{Dir: dir, Entry: entry, Answer: int(sample.Body)})
	if err != nil {
		return nil, err
	}
	defer bare.end()
	p := pair{ours: exchange, theirs: &seller{process: bare, campaigns: exchange.campaigns, next: new(uint64)}}
	if err := halt(bare.cmd.Process); err != nil {
		return nil, err
	}
	b.say("a lead's entry has %d bytes, its answer %d", entry, sample.Body)
	rows = append(rows, row{what: "bytes of a lead in the log, recorded alone", measured: strconv.Itoa(entry), figure: figureIngestBytes, value: float64(entry)})
	for _, connections := range b.size.connections {
		ours, theirs, err := b.turns(p, connections)
		if err != nil {
			return nil, err
		}
		rows = append(rows, ingestRows(connections, ours, theirs)...)
	}
	if b.flags.Profile != "" {
		return rows, b.profile(exchange.process, b.flags.Profile, func() error {
			_, err := b.send(exchange, 256, 0, b.size.lasting+2*time.Second)
			return err
		})
	}
	return rows, nil
}

func ingestRows(connections int, ours, theirs []clientResult) []row {
	rate := func(r *clientResult) float64 { return r.Rate }
	p99 := func(r *clientResult) float64 { return float64(r.P99) / 1e6 }
	busy := func(r *clientResult) float64 { return 100 * r.Busy }
	spent := func(r *clientResult) float64 { return 1e6 * r.perLead() }
	a, z := pick(ours, rate), pick(theirs, rate)
	ratio := a.over(z)
	slow, bareSlow := pick(ours, p99), pick(theirs, p99)
	slower := slow.over(bareSlow)
	what := fmt.Sprintf("durable ingest, %d connections: ", connections)
	return []row{
		{
			what:     what + "req/s over the ceiling's",
			measured: fmt.Sprintf("%.2f (%.0f of %.0f req/s)", ratio.median(), a.median(), z.median()),
			spread:   ratio.spread("%.2f"), goal: "0.80, at least 0.70", verdict: atLeast(ratio.median(), 0.8, 0.7),
		},
		{
			what:     what + "p99 over the ceiling's",
			measured: fmt.Sprintf("%.2f times (%.2f and %.2f ms)", slower.median(), slow.median(), bareSlow.median()),
			spread:   slower.spread("%.2f"), goal: "1.5, at most 2 times", verdict: atMost(slower.median(), 1.5, 2),
		},
		{
			what: what + "processor time of a lead",
			measured: fmt.Sprintf("%.1f µs, the ceiling's %.1f; the client kept %.0f and %.0f %% of a core busy",
				pick(ours, spent).median(), pick(theirs, spent).median(), pick(ours, busy).median(), pick(theirs, busy).median()),
			spread: pick(ours, spent).spread("%.1f"), figure: figureIngest.of(connections), value: pick(ours, spent).median(),
		},
	}
}
