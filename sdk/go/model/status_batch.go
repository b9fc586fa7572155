// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// StatusBatch is: Reports on many leads.
type StatusBatch struct {
	// The reports, one for each lead.
	Changes []StatusBatchChange `json:"changes"`
}
