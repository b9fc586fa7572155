// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// PostRequest is: A lead for the bid of its ping.
type PostRequest struct {
	// The caller's id of an auction, of 1 to 255 printable characters. It must be unique.
	AuctionID string `json:"auction_id"`
	// The `bid_token` of the answer to the ping.
	BidToken string   `json:"bid_token"`
	Lead     PostLead `json:"lead"`
}
