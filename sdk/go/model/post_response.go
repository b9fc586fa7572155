// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// PostResponse is: A sale.
type PostResponse struct {
	// The asker's name for an auction, of 1 to 255 printable characters. It names one auction and no other.
	AuctionID string `json:"auction_id"`
	// The buyer's own id of the lead; null where it told none.
	LeadID *string `json:"lead_id"`
	// The exchange's id of a lead.
	ID     string     `json:"id"`
	Status PostStatus `json:"status"`
	// The buyer that has it.
	BuyerID string `json:"buyer_id"`
	Price   Price  `json:"price"`
}
