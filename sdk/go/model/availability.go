// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"
)

// Availability is: The offers for a lead.
type Availability struct {
	// The id of this ping. An ingest refers to it to accept an offer.
	PingID string `json:"ping_id"`
	// The requested campaign.
	CampaignID string `json:"campaign_id"`
	// Whether there is an offer.
	Accepted bool `json:"accepted"`
	// The latest expiration of the offers.
	ExpiresAt time.Time `json:"expires_at"`
	// The offers, best first; empty if there are no offers.
	Buyers []Offer      `json:"buyers"`
	Reason *NoBidReason `json:"reason,omitzero"`
}
