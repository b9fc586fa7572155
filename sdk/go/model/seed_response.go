// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// SeedResponse is: Leads that were made up. `campaign_id` and `results` are there where a campaign was named.
type SeedResponse struct {
	// How many there are.
	Count int32 `json:"count"`
	// A name of 1 to 255 printable characters that is not blank.
	Vertical string    `json:"vertical"`
	State    StateCode `json:"state"`
	// The seed that they were made from.
	Seed int64 `json:"seed"`
	// The leads, in an order that is always the same.
	Leads []SeededLead `json:"leads"`
	// The campaign that they were sent through.
	CampaignID *string `json:"campaign_id,omitzero"`
	// What became of each of `leads` there, in their order.
	Results []SeedResult `json:"results,omitzero"`
}
