// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// SeededLead is: A lead that was made up, before and after its sale.
type SeededLead struct {
	Ping SeededPing `json:"ping"`
	Lead PostLead   `json:"lead"`
}
