// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// BidResponse is: The answer to a ping. `bid` is an object, or null with `reject_reason` and `reject_detail`.
type BidResponse struct {
	// The caller's id of an auction, of 1 to 255 printable characters. It must be unique.
	AuctionID string `json:"auction_id"`
	Bid       *Bid   `json:"bid"`
	// With a bid: the conditions of the buyer and the campaign that the lead meets. `vertical` is always present. `state`, `tcpa` (consent) and `score_threshold` are present if a list of states or a filter requires them.
	BuyerFiltersPassed []string     `json:"buyer_filters_passed,omitzero"`
	RejectReason       *NoBidReason `json:"reject_reason,omitzero"`
	// The reason as text for people.
	RejectDetail *string `json:"reject_detail,omitzero"`
}
