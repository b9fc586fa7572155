// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"
)

// LeadEvent is: An event of your lead.
type LeadEvent struct {
	// The id of an event. Drop repeats by it.
	ID   string        `json:"id"`
	Type LeadEventType `json:"type"`
	// When it happened.
	CreatedAt time.Time     `json:"created_at"`
	Data      LeadEventData `json:"data"`
}
