// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"
)

// StatusChange is: A report on one lead.
type StatusChange struct {
	Status ReportedStatus `json:"status"`
	// The reason, in at most 255 printable characters. Required for `returned`; it must be in the campaign's list of reasons, if there is one. The supplier receives it, without phone numbers and e-mail addresses.
	Reason *string `json:"reason,omitzero"`
	// When it happened, at most five minutes in the future.
	OccurredAt *time.Time `json:"occurred_at,omitzero"`
}
