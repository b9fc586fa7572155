// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"pingpost/sdk/go/wire"
)

// LeadEventData is: The lead it happened to. It does not tell who the person is.
type LeadEventData struct {
	// The exchange's id of a lead.
	LeadID string `json:"lead_id"`
	// Your own id, which your post named; null after an ingest.
	LeadUUID *string `json:"lead_uuid"`
	// The auction it was in, by the name that you know it by; null where there was none.
	AuctionID *string `json:"auction_id"`
	// The campaign that it was sent for.
	CampaignID *string `json:"campaign_id"`
	// The supplier that sent it.
	SupplierID *string `json:"supplier_id"`
	// The buyer that has it or had it; null where nobody did.
	BuyerID *string    `json:"buyer_id"`
	Status  LeadStatus `json:"status"`
	Price   *Price     `json:"price"`
	// Why: a reason for which a lead is not sold, or the buyer's word with its report; null where there is none.
	Reason   *string              `json:"reason"`
	Reversed wire.Nullable[Price] `json:"reversed,omitzero"`
	// It is there and true where this is a test lead.
	Test *bool `json:"test,omitzero"`
}
