// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"pingpost/sdk/go/wire"
)

// LeadEventData is: The lead of the event, without contact data.
type LeadEventData struct {
	// The exchange's id of a lead.
	LeadID string `json:"lead_id"`
	// Your id from the post; null after an ingest.
	LeadUUID *string `json:"lead_uuid"`
	// The auction's id as the caller knows it; null without an auction.
	AuctionID *string `json:"auction_id"`
	// The lead's campaign.
	CampaignID *string `json:"campaign_id"`
	// The lead's supplier.
	SupplierID *string `json:"supplier_id"`
	// The current or former buyer; null if there was no buyer.
	BuyerID *string    `json:"buyer_id"`
	Status  LeadStatus `json:"status"`
	Price   *Price     `json:"price"`
	// The cause: an unsold reason, or the reason in the buyer's report; else null.
	Reason   *string              `json:"reason"`
	Reversed wire.Nullable[Price] `json:"reversed,omitzero"`
	// True for a test lead; else absent.
	Test *bool `json:"test,omitzero"`
}
