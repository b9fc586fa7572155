// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// StatusBatchResponse is: The result of each report of a batch, in the same order.
type StatusBatchResponse struct {
	// One result for each report.
	Results []StatusResult `json:"results"`
}
