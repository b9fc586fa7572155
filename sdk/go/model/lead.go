// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"

	"pingpost/sdk/go/wire"
)

// Lead is: A lead as its seller or its buyer sees it, without contact data.
type Lead struct {
	// The exchange's id of a lead.
	ID     string     `json:"id"`
	Status LeadStatus `json:"status"`
	// The lead's campaign.
	CampaignID string `json:"campaign_id"`
	// The seller's id from the post. Null for buyers, and if there is no such id.
	LeadUUID wire.Nullable[string] `json:"lead_uuid,omitzero"`
	// The auction's id as the caller knows it; null without an auction.
	AuctionID *string `json:"auction_id"`
	// The buyer that has the lead, or that it is being sent to; null if there is no buyer.
	BuyerID  *string          `json:"buyer_id"`
	Price    *Price           `json:"price"`
	Reason   *UnmatchedReason `json:"reason"`
	Delivery DeliveryState    `json:"delivery"`
	Return   *ReturnState     `json:"return,omitzero"`
	// When the lead was decided.
	CreatedAt time.Time `json:"created_at"`
	// True for a test lead; else absent.
	Test *bool `json:"test,omitzero"`
}
