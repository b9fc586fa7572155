package main

import (
	"fmt"
	"path/filepath"

	"pingpost/engine/event"
	"pingpost/loadtest/bench/child"
	"pingpost/loadtest/ceiling"
)

// postedConnections is the number of connections that send leads for posting. The buyer
// shares the client's cores, so more connections would measure the buyer.
const postedConnections = 64

// posted compares a lead that is posted to a buyer with a ceiling that does the same two
// commits and the same HTTP call.
func (b *bench) posted() (rows []row, err error) {
	buyers, err := b.startBuyers(child.BuyersSpec{Buyers: 1})
	if err != nil {
		return nil, err
	}
	exchange, err := b.startExchange("posted", postedCatalog(buyers.Listen))
	if err != nil {
		return nil, err
	}
	sample, err := b.send(exchange, postedConnections, 0, b.size.calibration)
	if err != nil {
		return nil, err
	}
	bare, err := b.startPostingCeiling(exchange.data, buyers.Listen, int(sample.Body))
	if err != nil {
		return nil, err
	}
	if err := pause(bare.cmd.Process); err != nil {
		return nil, err
	}
	theirs := &ingestTarget{process: bare, campaigns: exchange.campaigns, next: exchange.next} // shared, because the buyer detects repeated keys
	unreported, err := b.startPaused("posted-unreported", postedCatalog(buyers.Listen).withoutReport())
	if err != nil {
		return nil, err
	}
	unreported.next = exchange.next
	all, err := b.sendInTurn(postedConnections, exchange, theirs, unreported)
	if err != nil {
		return nil, err
	}
	logged, err := b.recordBytes(exchange.data, event.KindLeadDecided, event.KindPostSettled)
	if err != nil {
		return nil, err
	}
	return append(postedRows(all[0], all[1], all[2]), row{
		label: "bytes of a lead in the log, posted to a buyer", measured: fmt.Sprintf("%.0f", logged), figure: figurePostedBytes, value: logged,
	}), nil
}

// startPostingCeiling starts the ceiling with records and answers of the exchange's
// sizes.
func (b *bench) startPostingCeiling(data, buyer string, answer int) (*process, error) {
	intent, err := averageRecord(data, event.KindLeadDecided)
	if err != nil {
		return nil, err
	}
	outcome, err := averageRecord(data, event.KindPostSettled)
	if err != nil {
		return nil, err
	}
	b.logf("log records of a posted lead: %d bytes before the post, %d bytes after", intent, outcome)
	return b.startCeiling(child.CeilingSpec{
		Dir: filepath.Join(b.dir, "courier"), Options: ceiling.Options{Entry: intent, Outcome: outcome, Answer: answer, Buyers: []string{buyer}},
	})
}

// recordBytes returns the sum of the average sizes of some kinds of records.
func (b *bench) recordBytes(data string, kinds ...event.Kind) (sum float64, err error) {
	for _, kind := range kinds {
		n, err := averageRecord(data, kind)
		if err != nil {
			return 0, err
		}
		sum += float64(n)
	}
	return sum, nil
}

// postedCatalog returns a catalog of one campaign and one buyer with an endpoint.
func postedCatalog(buyer string) *document {
	d := newDocument()
	d.Trusted = []string{"127.0.0.0/8"}
	d.Buyers = []buyerForm{{ID: "buy_00000", Endpoint: "http://" + buyer, Caps: unreachedCap}}
	d.addCampaign("cmp_posted", waterfall, 0, 1)
	return d
}

func postedRows(ours, theirs, unreported []child.LoadResult) []row {
	what := fmt.Sprintf("a lead posted to a buyer, %d connections: ", postedConnections)
	rows := closedLoopRows(what, ours, theirs, ", which does the same two commits and one call", ", beside the buyer")
	rows[0].goal, rows[0].verdict = "0.80", atLeast(rows[0].value, 0.8, 0.8)
	rows[2].figure = figurePosted
	return append(rows, withoutReportRows(what, "req/s", ours, theirs, unreported)...)
}
