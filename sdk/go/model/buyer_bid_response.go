// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"pingpost/sdk/go/wire"
)

// BuyerBidResponse is: A buyer's answer to a ping. `bid` is an object, or null with a `reject_reason`.
type BuyerBidResponse struct {
	// The `auction_id` of the ping. Required with a bid.
	AuctionID *string   `json:"auction_id,omitzero"`
	Bid       *BuyerBid `json:"bid"`
	// The conditions that the lead meets, such as `state`, `vertical`, `tcpa` and `score_threshold`.
	BuyerFiltersPassed []string `json:"buyer_filters_passed,omitzero"`
	// With a no-bid, the cause as a code.
	RejectReason *string `json:"reject_reason,omitzero"`
	// With a no-bid, the cause as text for people.
	RejectDetail *string `json:"reject_detail,omitzero"`

	// More are the members that are not named above, such as a campaign's own fields.
	// What came has its numbers as json.Number.
	More map[string]any `json:"-"`
}

type plainBuyerBidResponse BuyerBidResponse

// MarshalJSON writes the members, and those in More.
func (m BuyerBidResponse) MarshalJSON() ([]byte, error) {
	return wire.Join(plainBuyerBidResponse(m), m.More)
}

// UnmarshalJSON reads the members, and all others into More.
func (m *BuyerBidResponse) UnmarshalJSON(text []byte) error {
	more, err := wire.Split(text, (*plainBuyerBidResponse)(m), "auction_id", "bid", "buyer_filters_passed", "reject_reason", "reject_detail")
	m.More = more
	return err
}
