// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// IngestStatus is: `ACCEPTED`: a buyer was assigned, and `price` is your payout. `UNMATCHED`: the lead is unsold, and `reason` has the cause.
// Others than those below may come.
type IngestStatus string

const (
	IngestStatusAccepted  IngestStatus = "ACCEPTED"
	IngestStatusUnmatched IngestStatus = "UNMATCHED"
)
