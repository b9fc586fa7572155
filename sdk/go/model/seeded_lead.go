// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// SeededLead is: A generated lead, before and after its sale.
type SeededLead struct {
	Ping SeededPing `json:"ping"`
	Lead PostLead   `json:"lead"`
}
