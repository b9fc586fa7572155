// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// IngestStatus is: `ACCEPTED`: a buyer was assigned, and `price` is what you are paid. `UNMATCHED`: nobody takes it, and `reason` says why.
// Others than those below may come.
type IngestStatus string

const (
	IngestStatusAccepted  IngestStatus = "ACCEPTED"
	IngestStatusUnmatched IngestStatus = "UNMATCHED"
)
