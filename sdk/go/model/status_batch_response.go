// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// StatusBatchResponse is: What each report of a batch came to, in their order.
type StatusBatchResponse struct {
	// One result a report.
	Results []StatusResult `json:"results"`
}
