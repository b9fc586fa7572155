// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"pingpost/sdk/go/wire"
)

// SeedResult is: What became of one lead. Either as in the answer to an ingest, or with `error` where it was not taken at all.
type SeedResult struct {
	// The exchange's id of a lead.
	ID     *string       `json:"id,omitzero"`
	Status *IngestStatus `json:"status,omitzero"`
	// The buyer that it was assigned to; null where there is none.
	BuyerID wire.Nullable[string] `json:"buyer_id,omitzero"`
	Price   *Price                `json:"price,omitzero"`
	Reason  *UnmatchedReason      `json:"reason,omitzero"`
	Error   *ErrorCode            `json:"error,omitzero"`
	// With `invalid_payload`, which members are at fault.
	FieldErrors []FieldError `json:"field_errors,omitzero"`
}
