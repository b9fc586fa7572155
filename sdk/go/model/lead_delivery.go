// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// LeadDelivery is: A lead that a buyer bought.
type LeadDelivery struct {
	// The auction's id, or the lead's id without an auction.
	AuctionID string `json:"auction_id"`
	// The token of your bid; absent without a bid.
	BidToken *string  `json:"bid_token,omitzero"`
	Lead     PostLead `json:"lead"`
}
