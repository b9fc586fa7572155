// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// SeedRequest is: Which leads to make up.
type SeedRequest struct {
	// How many.
	Count int32 `json:"count"`
	// A name of 1 to 255 printable characters that is not blank.
	Vertical string    `json:"vertical"`
	State    StateCode `json:"state"`
	// Another seed makes other leads.
	Seed *int64 `json:"seed,omitzero"`
	// A campaign that the leads are sent through. Left out, they are only made.
	CampaignID *string `json:"campaign_id,omitzero"`
}
