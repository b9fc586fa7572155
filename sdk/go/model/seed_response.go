// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// SeedResponse is: Generated leads. `campaign_id` and `results` are present if the request has a campaign.
type SeedResponse struct {
	// The number of leads.
	Count int32 `json:"count"`
	// A name of 1 to 255 printable characters that is not blank.
	Vertical string    `json:"vertical"`
	State    StateCode `json:"state"`
	// The seed of the leads.
	Seed int64 `json:"seed"`
	// The leads, in a fixed order.
	Leads []SeededLead `json:"leads"`
	// The campaign that processed the leads.
	CampaignID *string `json:"campaign_id,omitzero"`
	// The outcome of each lead in `leads`, in the same order.
	Results []SeedResult `json:"results,omitzero"`
}
