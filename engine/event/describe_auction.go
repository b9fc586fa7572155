package event

import (
	"strings"

	"pingpost/engine/market"
)

// auction leaves out what the ping said of the lead, and every token: whoever
// has one may sell, or buy, at the bid.
func (d *describer) auction(e *AuctionHeld) {
	d.text("auction", e.Auction.String())
	d.text("request", e.Request.String())
	d.uint("campaign", uint64(e.Campaign))
	d.uint("supplier", uint64(e.Supplier))
	d.uint("catalog", uint64(e.Catalog))
	d.uint("hops", uint64(e.Hops))
	d.name("name", e.Name)
	d.text("theirs", e.Theirs)
	d.text("reason", e.Reason.String())
	d.trail(e.Trail)
	d.bids(e.Bids)
	d.uint("fields", uint64(len(e.Fields)))
	d.flag("test", e.Test)
}

// nameBytes is how much of an auction's name is shown: enough to find the sale
// that belongs to it.
const nameBytes = 6

func (d *describer) name(member string, name [16]byte) {
	if name != [16]byte{} {
		d.hex(member, name[:nameBytes])
	}
}

func (d *describer) bids(bids []Bid) {
	if len(bids) == 0 {
		return
	}
	all := make([]string, 0, len(bids))
	for i := range bids {
		all = append(all, bids[i].describe())
	}
	d.add("bids", "["+strings.Join(all, ",")+"]")
}

func (b *Bid) describe() string {
	d := describer{}
	d.uint("buyer", uint64(b.Buyer))
	d.uint("seat", uint64(b.Seat))
	d.text("outcome", b.Outcome.String())
	if b.Amount != 0 {
		d.add("amount", b.Amount.String())
	}
	if b.Payout != 0 {
		d.add("payout", b.Payout.String())
	}
	if b.Currency != (market.Currency{}) {
		d.text("currency", b.Currency.String())
	}
	if b.Elapsed > 0 {
		d.uint("elapsed_us", uint64(b.Elapsed)/1000)
	}
	d.uint("status", uint64(b.Status))
	if b.Fault != market.FaultNone {
		d.text("fault", b.Fault.String())
	}
	d.text("reason", b.Reason)
	return "{" + strings.Join(d, ",") + "}"
}
