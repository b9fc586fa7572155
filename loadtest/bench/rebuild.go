package main

import (
	"errors"
	"fmt"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/wal"
)

// Leads of a report that is built anew: each was sold in an auction among so many.
const reportBids = 4

// rebuild measures how fast a report is built from the log.
func (b *bench) rebuild() ([]row, error) {
	results := make([]rebuildResult, b.size.runs)
	for i := range results {
		err := b.guard.measure(nil, func() error {
			dir, err := b.folder(fmt.Sprintf("rebuild-%d-%d", i, b.guard.runs))
			if err != nil {
				return err
			}
			spec := logSpec{Dir: dir, Leads: b.size.reported, Bids: reportBids}
			if err := child(b.ctx, nil, nil, "role-write", spec, new(logResult)); err != nil {
				return err
			}
			return child(b.ctx, nil, []string{collector, processors}, "role-rebuild", spec, &results[i])
		})
		if err != nil {
			return nil, err
		}
	}
	rate := pick(results, func(r *rebuildResult) float64 { return r.Rate })
	return []row{{
		what:     fmt.Sprintf("report built anew from the log: %d leads with %d bids each", b.size.reported, reportBids),
		measured: fmt.Sprintf("%.0f leads/s, %.0f bytes a lead", rate.median(), pick(results, func(r *rebuildResult) float64 { return r.Bytes }).median()),
		spread:   rate.spread("%.0f"), goal: "20,000 leads/s", verdict: atLeast(rate.median(), 20_000, 20_000),
	}}, nil
}

// rebuildResult is how many leads a second came into the file, and its bytes a lead.
type rebuildResult struct{ Rate, Bytes float64 }

// rebuildAll builds the report of a log, and ends when it has all.
func rebuildAll(spec *logSpec) (result *rebuildResult, err error) {
	log, err := wal.Open(spec.Dir, wal.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	named := state.New()
	now := time.Now().UnixNano()
	named.Apply(1, now, newFacts(now).names())
	began := time.Now()
	kept, stop := follow(followed{log, named}, spec.Dir)
	defer stop()
	if err := caughtUp(kept); err != nil {
		return nil, err
	}
	took := time.Since(began)
	size, err := sizeOf(spec.Dir + "/report")
	return &rebuildResult{Rate: float64(spec.Leads) / took.Seconds(), Bytes: float64(size) / float64(spec.Leads)}, err
}

// auctioned makes a lead one that an auction among so many buyers sold.
func (f *facts) auctioned(bids int) {
	e := &f.fact
	a := &e.Auction
	a.ID = market.AuctionID(f.id(e.Decided))
	a.Began, a.Deadline = e.Decided, e.Decided+int64(2*time.Second)
	for i := range bids {
		buyer := (int(e.Sale.Buyer)-1+i)%factBuyers + 1
		bid := event.Bid{
			FilterSet: uint32(i), Buyer: market.Ref(buyer), Outcome: market.OutcomeLost, Elapsed: int64(10+i) * int64(time.Millisecond),
			Amount: 11_000_000, Currency: e.Sale.Currency, Status: 200, ValidUntil: a.Deadline,
		}
		if i == 0 {
			bid.Outcome, bid.Amount, bid.Payout = market.OutcomeWon, e.Sale.Price, e.Sale.Payout
		}
		a.Bids = append(a.Bids, bid)
	}
}
