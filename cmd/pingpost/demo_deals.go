package main

import (
	"bytes"
	"fmt"
	"net/http"

	"pingpost/engine/market"
)

// deals are what became of the seller's offers. Each is in one of noBid, sold,
// refused and lost.
type deals struct {
	offered, noBid, sold, refused, lost int
	payout                              market.Money
	reasons                             map[string]int // of those that were not sold
	first                               map[int]*deal  // by offer
	repeated, again                     int
}

func newDeals() *deals {
	return &deals{reasons: map[string]int{}, first: map[int]*deal{}}
}

// deal takes a deal down, and what it sold into the buyer's account.
func (a *account) deal(d *deal) {
	s := a.deals
	s.offered++
	s.first[d.offer] = d
	switch {
	case d.err != nil || d.ping.status != http.StatusOK:
		s.lost++
		a.wrong = append(a.wrong, fmt.Sprintf("offer %d: %d %s %v", d.offer+1, d.ping.status, d.ping.body, d.err))
	case d.bid.Bid == nil:
		s.noBid++
		count(s.reasons, "no bid: "+d.bid.Reason)
	case d.post.status != http.StatusCreated:
		s.refused++
		count(s.reasons, "post: "+d.refused.String())
	default:
		s.sold++
		s.payout += d.sale.Price.Amount
		a.sold[d.sale.Buyer]++
		a.payout[d.sale.Buyer] += d.sale.Price.Amount
		a.sale(d)
	}
}

// sale checks that what was promised was paid, and that the lead is a new one.
func (a *account) sale(d *deal) {
	if d.sale.Price.Amount != d.bid.Bid.Amount || d.sale.Status != statusAccepted {
		a.wrong = append(a.wrong, fmt.Sprintf("offer %d: %s was bid and %s paid", d.offer+1, amount(d.bid.Bid.Amount), amount(d.sale.Price.Amount)))
	}
	if a.leadIDs[d.sale.ID] {
		a.wrong = append(a.wrong, fmt.Sprintf("offer %d: its lead's id was given before", d.offer+1))
	}
	a.leadIDs[d.sale.ID] = true
	a.posted = append(a.posted, d.sale.ID)
}

// dealAgain takes down a deal that was made again under its keys: the answers are
// to be those of the first time, to the byte.
func (a *account) dealAgain(d *deal) {
	s := a.deals
	s.repeated++
	first := s.first[d.offer]
	late := first != nil && first.post.status == http.StatusGone && d.post.status == http.StatusGone // refused anew
	if d.err == nil && first != nil && same(first.ping, d.ping) && (late || same(first.post, d.post)) {
		s.again++
	}
}

func same(a, b heardBack) bool { return a.status == b.status && bytes.Equal(a.body, b.body) }

// byOffer shows what became of the offers.
func (s *deals) byOffer() string {
	t := table{indent: "  "}
	t.row("offered", grouped(s.offered), "pinged, and posted where there was a bid")
	t.row("sold", grouped(s.sold), "for "+amount(s.payout))
	for _, word := range byCount(s.reasons) {
		t.row(word, grouped(s.reasons[word]), "")
	}
	if s.lost > 0 {
		t.row("no answer", grouped(s.lost), "")
	}
	return t.String()
}
