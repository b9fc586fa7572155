// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"
)

// Availability is: Who would buy a lead.
type Availability struct {
	// Names this ping; an ingest takes one of its offers up by it.
	PingID string `json:"ping_id"`
	// The campaign that was asked for.
	CampaignID string `json:"campaign_id"`
	// Whether anybody would buy it.
	Accepted bool `json:"accepted"`
	// When the last of the offers ends at the latest.
	ExpiresAt time.Time `json:"expires_at"`
	// The offers, the best first; none where nobody wants it.
	Buyers []Offer      `json:"buyers"`
	Reason *NoBidReason `json:"reason,omitzero"`
}
