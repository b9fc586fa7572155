// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// IngestResult is: The outcome of a lead.
type IngestResult struct {
	// The exchange's id of a lead.
	ID     string       `json:"id"`
	Status IngestStatus `json:"status"`
	// The buyer; null if unsold.
	BuyerID *string `json:"buyer_id"`
	// The lead's campaign.
	CampaignID string           `json:"campaign_id"`
	Price      *Price           `json:"price,omitzero"`
	Reason     *UnmatchedReason `json:"reason,omitzero"`
}
