// Package auction holds auctions for ping_post campaigns: it pings the buyers, collects
// their answers until the deadline, judges the bids and ranks them.
//
// It commits no events and sells no lead. Package engine excludes the candidates that may
// not be pinged before an auction, records the result, and sells to a bidder.
package auction
