// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"

	"pingpost/sdk/go/wire"
)

// Lead is: A lead as one of those may see it whom it concerns. It does not tell who the person is.
type Lead struct {
	// The exchange's id of a lead.
	ID     string     `json:"id"`
	Status LeadStatus `json:"status"`
	// The campaign that it was sent for.
	CampaignID string `json:"campaign_id"`
	// The seller's own id, which a post names. Buyers are not shown it; null where there is none.
	LeadUUID wire.Nullable[string] `json:"lead_uuid,omitzero"`
	// The auction it was in, by the name that you know it by; null where there was none.
	AuctionID *string `json:"auction_id"`
	// The buyer that has it, or is being sent it; null where nobody has it.
	BuyerID  *string          `json:"buyer_id"`
	Price    *Price           `json:"price"`
	Reason   *UnmatchedReason `json:"reason"`
	Delivery DeliveryState    `json:"delivery"`
	Return   *ReturnState     `json:"return,omitzero"`
	// When the lead was decided.
	CreatedAt time.Time `json:"created_at"`
	// It is there and true where this is a test lead.
	Test *bool `json:"test,omitzero"`
}
