// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"pingpost/sdk/go/wire"
)

// SeedResult is: The outcome of one lead: that of an ingest, or `error` if the lead was rejected.
type SeedResult struct {
	// The exchange's id of a lead.
	ID     *string       `json:"id,omitzero"`
	Status *IngestStatus `json:"status,omitzero"`
	// The buyer; null if unsold.
	BuyerID wire.Nullable[string] `json:"buyer_id,omitzero"`
	Price   *Price                `json:"price,omitzero"`
	Reason  *UnmatchedReason      `json:"reason,omitzero"`
	Error   *ErrorCode            `json:"error,omitzero"`
	// With `invalid_payload`, the invalid members.
	FieldErrors []FieldError `json:"field_errors,omitzero"`
}
