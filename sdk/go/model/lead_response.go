// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// LeadResponse is: A lead, for suppliers with an API key.
type LeadResponse struct {
	Data Lead `json:"data"`
}
