package config

import (
	"fmt"

	"pingpost/engine/market"
)

// warnShortBidding warns where a reserve ends the bidding of an auction before
// the campaign's bid_timeout. A buyer's post_timeout needs no such warning: the
// 5 seconds trigger the answer and do not end the attempt.
func (c *compiler) warnShortBidding(at place, form *Campaign) {
	for _, reserve := range [...]struct {
		key, auction string
		span         *Duration
	}{
		{"post_reserve", "an ingest", form.PostReserve},
		{"ping_reserve", "a ping", form.PingReserve},
	} {
		left := mostBidTimeout - reserve.span.span()
		if form.Method == "ping_post" && form.BidTimeout.span() > left {
			c.warn(at.key("bid_timeout"), fmt.Sprintf("is longer than %s has: bids end after %s, because %s keeps %s of its 5s for the post; lower bid_timeout or %s",
				reserve.auction, Duration(left), reserve.key, reserve.span, reserve.key))
		}
	}
}

// warnNoFloor warns of an auction without a floor: it sells to any bid. A fixed
// payout is a floor too.
func (c *compiler) warnNoFloor(at place, form *Campaign) {
	if form.Method == "ping_post" && form.Floor == 0 && (form.Payout.Fixed == nil || *form.Payout.Fixed == 0) {
		c.warn(at.key("floor"), "is 0, so a lead can be sold for "+market.Money(1).String()+"; give the lowest bid that may buy")
	}
}
