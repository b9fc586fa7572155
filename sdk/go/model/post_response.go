// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// PostResponse is: A sale.
type PostResponse struct {
	// The caller's id of an auction, of 1 to 255 printable characters. It must be unique.
	AuctionID string `json:"auction_id"`
	// The buyer's id of the lead; null if the buyer sent no id.
	LeadID *string `json:"lead_id"`
	// The exchange's id of a lead.
	ID     string     `json:"id"`
	Status PostStatus `json:"status"`
	// The buyer of the lead.
	BuyerID string `json:"buyer_id"`
	Price   Price  `json:"price"`
}
