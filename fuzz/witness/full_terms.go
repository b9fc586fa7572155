package witness

// NewFullTerms are those of an exchange that is sent every kind of request, for a
// run in which about so many leads come: campaigns of fixed prices and auctions side
// by side, buyers with every fault that a buyer can have, some with an endpoint for tests
// and some without, and some that never run out of room, so that there is something to
// lose to the last.
func NewFullTerms(leads int64, hourly, daily string) *Terms {
	fixed, bids := NewTerms(leads*6/10, hourly, daily), NewAuctionTerms(leads*4/10, hourly, daily)
	t := &Terms{full: true, buyers: fixed.buyers, caps: append(fixed.caps, bids.caps...)}
	for _, b := range bids.buyers {
		if b.id != toppedUp {
			t.buyers = append(t.buyers, b)
		}
	}
	t.buyers = append(t.buyers,
		buyerTerms{id: "buy_broken", bid: 4 * unit, postTimeout: "400ms", args: []string{
			"--latency", "1ms-20ms+hang:0.03", "--malformed-post-rate", "0.1", "--twice-rate", "0.1", "--fail-rate", "0.05", "--reject-rate", "0.05",
		}},
		buyerTerms{id: "bid_broken", bids: "3-9", postTimeout: "400ms", args: []string{
			"--latency", "1ms-20ms+hang:0.02", "--malformed-rate", "0.1", "--malformed-post-rate", "0.1", "--twice-rate", "0.1", "--reject-rate", "0.05",
		}},
		buyerTerms{id: "rec_rest"},
	)
	t.campaigns = append(fixed.campaigns, bids.campaigns...)
	for i := range t.campaigns {
		c := &t.campaigns[i]
		if c.auctions() {
			c.share = c.share * 2 / 5
			c.seats = append(c.seats, seatTerms{buyer: "bid_broken"})
			continue
		}
		c.share = c.share * 3 / 5
		c.seats = append(c.seats, seatTerms{"buy_broken", 4 * unit, 1}, seatTerms{"rec_rest", 2 * unit, 1})
	}
	for _, id := range []string{"buy_fussy", "buy_flaky", "buy_broken", "bid_fussy", "bid_flaky", "bid_broken"} {
		t.buyer(id).rehearses = true
	}
	t.campaign("cmp_weight").capBack = true
	t.campaign("cmp_more").capBack = true
	t.campaign("cmp_weight").manual = true
	t.campaign("cmp_bids").manual = true
	t.caps = append(t.caps, capTerms{campaign: "cmp_weight", buyer: "rec_alpha", per: "day", zone: daily, count: max(2, leads/40)})
	return t
}
