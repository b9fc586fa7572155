// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// PostRequest is: A lead, for the bid that its ping was answered with.
type PostRequest struct {
	// The asker's name for an auction, of 1 to 255 printable characters. It names one auction and no other.
	AuctionID string `json:"auction_id"`
	// The `bid_token` of the answer to the ping.
	BidToken string   `json:"bid_token"`
	Lead     PostLead `json:"lead"`
}
