// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"
)

// StatusChange is: A report on one lead.
type StatusChange struct {
	Status ReportedStatus `json:"status"`
	// Why, in at most 255 printable characters. Required for `returned`, and then one of the campaign's reasons where it lists any. The supplier is told; what looks like a phone number or an email address is withheld.
	Reason *string `json:"reason,omitzero"`
	// When it happened, not ahead of now by more than five minutes.
	OccurredAt *time.Time `json:"occurred_at,omitzero"`
}
