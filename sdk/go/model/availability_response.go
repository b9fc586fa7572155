// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// AvailabilityResponse is: The answer to a request for bids.
type AvailabilityResponse struct {
	Data Availability `json:"data"`
}
