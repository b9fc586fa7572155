package adapter_test

import (
	"time"

	"pingpost/engine/market"
	"pingpost/engine/market/leadtest"
)

var pingMetadata = market.BuyerPingMetadata{
	Auction: market.AuctionID(market.ComposeID(1, [10]byte{1})), Vertical: "auto_insurance",
	ExpiresAt: time.Date(2026, 3, 2, 12, 0, 4, 987_654_321, time.UTC).UnixNano(),
}

var (
	person = leadtest.RequiredIngestMembers
	fill   = leadtest.FillLead
)
