// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// BidResponse is: The answer to a ping. Either `bid` is an object, or it is null, and then `reject_reason` and `reject_detail` are there.
type BidResponse struct {
	// The asker's name for an auction, of 1 to 255 printable characters. It names one auction and no other.
	AuctionID string `json:"auction_id"`
	Bid       *Bid   `json:"bid"`
	// With a bid: what the buyer behind it, or the campaign, asks of a lead, and this one has. `vertical` is always among them; `state`, `tcpa` (consent) and `score_threshold` where a list of states or a filter asks for it.
	BuyerFiltersPassed []string     `json:"buyer_filters_passed,omitzero"`
	RejectReason       *NoBidReason `json:"reject_reason,omitzero"`
	// The same in words, for a person.
	RejectDetail *string `json:"reject_detail,omitzero"`
}
