package main

import (
	"fmt"
	"path/filepath"

	"pingpost/engine/event"
)

// postedLines is how many connections bring leads that are posted on. The buyer
// shares the client's cores, so more of them would measure the buyer.
const postedLines = 64

// posted compares a lead that is posted to a buyer, which is two commits and a
// call, with a bare server that does the same two commits and the same call.
func (b *bench) posted() (rows []row, err error) {
	buyers, err := b.startBuyers(buyersSpec{Buyers: 1})
	if err != nil {
		return nil, err
	}
	defer buyers.end()
	exchange, err := b.startExchange("posted", postedTo(buyers.Listen))
	if err != nil {
		return nil, err
	}
	defer exchange.end()
	sample, err := b.send(exchange, postedLines, 0, b.size.calibration)
	if err != nil {
		return nil, err
	}
	bare, err := b.startCourier(exchange.data, buyers.Listen, int(sample.Body))
	if err != nil {
		return nil, err
	}
	defer bare.end()
	if err := halt(bare.cmd.Process); err != nil {
		return nil, err
	}
	theirs := &seller{process: bare, campaigns: exchange.campaigns, next: exchange.next} // the buyer knows leads by their keys
	ours, bareRuns, err := b.turns(pair{ours: exchange, theirs: theirs, beside: []*process{buyers}}, postedLines)
	if err != nil {
		return nil, err
	}
	logged, err := b.loggedBytes(exchange.data, event.KindLeadDecided, event.KindPostSettled)
	if err != nil {
		return nil, err
	}
	return append(postedRows(ours, bareRuns), row{
		what: "bytes of a lead in the log, posted to a buyer", measured: fmt.Sprintf("%.0f", logged), figure: figurePostedBytes, value: logged,
	}), nil
}

// startCourier starts the bare server, with entries and answers as large as the
// exchange's are.
func (b *bench) startCourier(data, buyer string, answer int) (*process, error) {
	intent, err := averageEntry(data, event.KindLeadDecided)
	if err != nil {
		return nil, err
	}
	outcome, err := averageEntry(data, event.KindPostSettled)
	if err != nil {
		return nil, err
	}
	b.say("a lead's intent has %d bytes, its outcome %d", intent, outcome)
	return startCeiling(b.ctx, b.cores.servers, bareSpec{
		Dir: filepath.Join(b.dir, "courier"), Entry: intent, Outcome: outcome, Answer: answer, Buyer: buyer,
	})
}

// loggedBytes is what entries of some kinds have in a log, one of each together.
func (b *bench) loggedBytes(data string, kinds ...event.Kind) (sum float64, err error) {
	for _, kind := range kinds {
		n, err := averageEntry(data, kind)
		if err != nil {
			return 0, err
		}
		sum += float64(n)
	}
	return sum, nil
}

// postedTo is a catalog of one campaign with one buyer, which has an endpoint.
func postedTo(buyer string) *document {
	d := newDocument()
	d.Trusted = []string{"127.0.0.0/8"}
	d.Buyers = []buyerForm{{ID: "buy_00000", Endpoint: "http://" + buyer, Caps: unreachable}}
	d.addCampaign("cmp_posted", waterfall, 0, 1)
	return d
}

func postedRows(ours, theirs []clientResult) []row {
	rate := func(r *clientResult) float64 { return r.Rate }
	p99 := func(r *clientResult) float64 { return float64(r.P99) / 1e6 }
	spent := func(r *clientResult) float64 { return 1e6 * r.perLead() }
	busy := func(r *clientResult) float64 { return 100 * r.Busy }
	a, z := pick(ours, rate), pick(theirs, rate)
	ratio, slower := a.over(z), pick(ours, p99).over(pick(theirs, p99))
	what := fmt.Sprintf("a lead posted to a buyer, %d connections: ", postedLines)
	return []row{
		{
			what:     what + "req/s over the ceiling's, which does the same two commits and one call",
			measured: fmt.Sprintf("%.2f (%.0f of %.0f req/s)", ratio.median(), a.median(), z.median()),
			spread:   ratio.spread("%.2f"), goal: "0.80", verdict: atLeast(ratio.median(), 0.8, 0.8),
		},
		{
			what:     what + "p99 over the ceiling's",
			measured: fmt.Sprintf("%.2f times (%.2f and %.2f ms)", slower.median(), pick(ours, p99).median(), pick(theirs, p99).median()),
			spread:   slower.spread("%.2f"),
		},
		{
			what: what + "processor time of a lead",
			measured: fmt.Sprintf("%.1f µs, the ceiling's %.1f; the client kept %.0f and %.0f %% of a core busy, beside the buyer",
				pick(ours, spent).median(), pick(theirs, spent).median(), pick(ours, busy).median(), pick(theirs, busy).median()),
			spread: pick(ours, spent).spread("%.1f"), figure: figurePosted, value: pick(ours, spent).median(),
		},
	}
}
