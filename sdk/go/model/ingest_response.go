// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// IngestResponse is: The answer to a lead.
type IngestResponse struct {
	Data IngestResult `json:"data"`
}
