// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// IngestResult is: What became of a lead.
type IngestResult struct {
	// The exchange's id of a lead.
	ID     string       `json:"id"`
	Status IngestStatus `json:"status"`
	// The buyer that the lead was assigned to; null where there is none.
	BuyerID *string `json:"buyer_id"`
	// The campaign that it was sent for.
	CampaignID string           `json:"campaign_id"`
	Price      *Price           `json:"price,omitzero"`
	Reason     *UnmatchedReason `json:"reason,omitzero"`
}
