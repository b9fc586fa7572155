package witness

import "pingpost/engine/market"

// NewAuctionTerms are likewise, with auctions alone: leads come by ingest and by
// ping and post, to buyers one of which hurries, one refuses, one fails, one talks
// nonsense at times, and one passes. Bids are whole cents.
func NewAuctionTerms(leads int64, hourly, daily string) *Terms {
	part := func(thousandths int64) int64 { return max(2, leads*thousandths/1000) }
	worth := func(thousandths int64) market.Money { return market.Money(part(thousandths)) * 10 * unit }
	seats := func(ids ...string) (all []seatTerms) {
		for _, id := range ids {
			all = append(all, seatTerms{buyer: id, weight: 1})
		}
		return all
	}
	return &Terms{
		campaigns: []campaignTerms{
			{id: "cmp_bids", method: "ping_post", share: 60, vertical: "auto", floor: 3 * unit, seats: seats("bid_quick", "bid_fussy", "bid_flaky", "bid_wild")},
			{id: "cmp_more", method: "ping_post", share: 40, vertical: "home", seats: seats("bid_quick", "bid_flaky", "bid_slow")},
		},
		buyers: []buyerTerms{
			{id: "bid_quick", bids: "2-8", postTimeout: "5s", args: []string{"--latency", "1ms-5ms"}},
			{id: "bid_fussy", bids: "4-12", postTimeout: "5s", args: []string{"--latency", "1ms-20ms", "--reject-rate", "0.2"}, funded: true, balance: worth(60), credit: worth(10)},
			{id: "bid_flaky", bids: "3-11", postTimeout: "5s", args: []string{"--latency", "5ms-15ms", "--fail-rate", "0.1", "--no-bid-rate", "0.2"}},
			{id: "bid_wild", bids: "3-12", postTimeout: "5s", args: []string{"--latency", "1ms-30ms", "--malformed-rate", "0.05", "--reject-rate", "0.05"}},
			{id: "bid_slow", bids: "4-10", postTimeout: "5s", args: []string{"--latency", "30ms-120ms"}},
			{id: toppedUp, bid: unit, funded: true},
		},
		caps: []capTerms{
			{campaign: "cmp_bids", per: "day", zone: daily, count: part(380)},
			{buyer: "bid_slow", per: "hour", zone: hourly, count: part(60)},
			{buyer: "bid_flaky", per: "week", zone: daily, money: worth(60)},
			{campaign: "cmp_bids", buyer: "bid_wild", per: "month", zone: daily, count: part(80)},
			{campaign: "cmp_more", buyer: "bid_quick", per: "day", zone: daily, count: part(100)},
		},
	}
}
