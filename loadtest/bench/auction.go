package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// auctionLines is how many connections a seller has. Its auctions under load
// are as many side by side.
const auctionLines = 64

// sides are the runs of an exchange, of the bare server, and of the bare server
// that keeps a record.
type sides struct {
	ours, bare, keeping []sellerResult
}

// turnsOf holds auctions of so many buyers at the three, in turn. In a closed loop
// one without a bid is an error: refusals are quick, and would make a server look so.
func (h *house) turnsOf(buyers int, spec *sellerSpec) (*sides, error) {
	spec.Vertical, spec.Lines = verticalOf(buyers), auctionLines
	one := func(server *process) func() (sellerResult, error) {
		return func() (r sellerResult, err error) {
			err = h.b.guard.measure(h.live(), func() (err error) {
				r, err = h.sell(server, *spec)
				switch {
				case err != nil || r.Trouble == "":
				case spec.Rate == 0:
					err = errors.New(r.Trouble)
				default:
					h.b.say("%d auctions without a bid; the first: %s", r.unsold(), r.Trouble)
				}
				return err
			})
			return r, err
		}
	}
	all, err := alternate(h.b.size.runs, one(h.exchange), one(h.bare[buyers]), one(h.keeping[buyers]))
	if err != nil {
		return nil, err
	}
	return &sides{ours: all[0], bare: all[1], keeping: all[2]}, nil
}

// auctionTime compares the processor time of an auction with the bare server's.
func (b *bench) auctionTime() (rows []row, err error) {
	h, err := b.openHouse(&houseSpec{name: "auctions", sizes: b.size.auctionBuyers, pingRate: plenty})
	if err != nil {
		return nil, err
	}
	defer h.end()
	if err := h.openBare(b.size.auctionBuyers); err != nil {
		return nil, err
	}
	spec := sellerSpec{Warmup: b.size.warmup, Lasting: b.size.lasting}
	for _, n := range b.size.auctionBuyers {
		logged, err := h.openKeeping(n)
		if err != nil {
			return nil, err
		}
		all, err := h.turnsOf(n, &spec)
		if err != nil {
			return nil, err
		}
		rows = append(rows, auctionTimeRows(n, all)...)
		rows = append(rows, row{
			what:     fmt.Sprintf("auction, buyers asked %d: bytes in the log", n),
			measured: strconv.Itoa(logged), figure: figureAuctionBytes.of(n), value: float64(logged),
		})
	}
	if b.flags.Profile == "" {
		return rows, nil
	}
	spec.Warmup, spec.Lasting = 0, b.size.lasting+2*time.Second
	return rows, b.profile(h.exchange, b.flags.Profile+".auction", func() error {
		_, err := h.sell(h.exchange, spec) // of the most buyers, which came last
		return err
	})
}

func auctionTimeRows(buyers int, all *sides) []row {
	ours, theirs := all.ours, all.bare
	micros := func(r *sellerResult) float64 { return 1e6 * r.perAuction() }
	rate := func(r *sellerResult) float64 { return r.Rate }
	objects := func(r *sellerResult) float64 { return r.Objects }
	bytes := func(r *sellerResult) float64 { return r.Bytes }
	client := func(r *sellerResult) float64 { return 100 * r.Busy }
	buyersBusy := func(r *sellerResult) float64 { return 100 * r.BuyersBusy }
	a, z := pick(ours, micros), pick(theirs, micros)
	ratio := a.over(z)
	kept := pick(all.keeping, micros)
	recorded := a.over(kept)
	goal, text := 1.5, "1.5, at most 2 times"
	if buyers < 4 {
		goal, text = 2, "at most 2 times"
	}
	made := pick(ours, objects)
	what := fmt.Sprintf("auction, buyers asked %d: ", buyers)
	return []row{
		{
			what:     what + "processor time over the ceiling's",
			measured: fmt.Sprintf("%.2f times (%.1f and %.1f µs)", ratio.median(), a.median(), z.median()),
			spread:   ratio.spread("%.2f"), goal: text, verdict: atMost(ratio.median(), goal, 2),
			figure: figureAuction.of(buyers), value: a.median(),
		},
		{
			what:     what + "processor time over that of a ceiling that records as many bytes",
			measured: fmt.Sprintf("%.2f times (%.1f and %.1f µs)", recorded.median(), a.median(), kept.median()),
			spread:   recorded.spread("%.2f"),
		},
		{
			what: what + "allocations",
			measured: fmt.Sprintf("%.1f of %.0f bytes together, the ceiling's %.1f of %.0f",
				made.median(), pick(ours, bytes).median(), pick(theirs, objects).median(), pick(theirs, bytes).median()),
			spread: made.spread("%.1f"),
		},
		{
			what: what + "rate",
			measured: fmt.Sprintf("%.0f auctions/s, the ceiling's %.0f; the seller kept %.0f and %.0f %% of a core busy, the buyers %.0f and %.0f",
				pick(ours, rate).median(), pick(theirs, rate).median(),
				pick(ours, client).median(), pick(theirs, client).median(), pick(ours, buyersBusy).median(), pick(theirs, buyersBusy).median()),
			spread: pick(ours, rate).spread("%.0f"),
		},
	}
}
