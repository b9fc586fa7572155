// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// LeadDelivery is: A lead that a buyer bought.
type LeadDelivery struct {
	// The auction that you won, or the lead's id where there was none.
	AuctionID string `json:"auction_id"`
	// The token of your bid; not there where you made none.
	BidToken *string  `json:"bid_token,omitzero"`
	Lead     PostLead `json:"lead"`
}
