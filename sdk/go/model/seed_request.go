// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// SeedRequest is: The parameters of the generated leads.
type SeedRequest struct {
	// The number of leads.
	Count int32 `json:"count"`
	// A name of 1 to 255 printable characters that is not blank.
	Vertical string    `json:"vertical"`
	State    StateCode `json:"state"`
	// Another seed gives other leads.
	Seed *int64 `json:"seed,omitzero"`
	// A campaign to send the leads through. Without it, the leads are only generated.
	CampaignID *string `json:"campaign_id,omitzero"`
}
