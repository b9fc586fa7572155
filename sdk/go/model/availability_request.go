// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"pingpost/sdk/go/wire"
)

// AvailabilityRequest is: What is told of a lead to learn who would buy it. Beside the members below it has the campaign's own fields that go into pings. Contact details are refused with `contact_field_not_allowed`, at any depth.
type AvailabilityRequest struct {
	// The campaign, which must be one that holds auctions.
	FloCampaignID string `json:"flo_campaign_id"`
	// The supplier that asks, which is the one that the API key belongs to.
	FloSupplierID string     `json:"flo_supplier_id"`
	State         *StateCode `json:"state,omitzero"`
	// A ZIP code of five digits, or ZIP+4.
	Zip *string `json:"zip,omitzero"`
	// The first three digits of a ZIP code.
	Zip3 *string `json:"zip3,omitzero"`
	// Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
	Source *string `json:"source,omitzero"`
	// Whether the person has agreed to be called.
	TCPAConsent *bool `json:"tcpa_consent,omitzero"`
	// Where the certificate of the person's consent is: an absolute https address, with neither user nor password. Required where `source` is one for which the campaign asks for it. A campaign may also name the hosts that it takes.
	ConsentCertURL *string `json:"consent_cert_url,omitzero"`
	// How good the lead is held to be, commonly from 0 to 1.
	AIQualityScore *float64 `json:"ai_quality_score,omitzero"`

	// More are the members that are not named above, such as a campaign's own fields.
	// What came has its numbers as json.Number.
	More map[string]any `json:"-"`
}

type plainAvailabilityRequest AvailabilityRequest

// MarshalJSON writes the members, and those in More.
func (m AvailabilityRequest) MarshalJSON() ([]byte, error) {
	return wire.Join(plainAvailabilityRequest(m), m.More)
}

// UnmarshalJSON reads the members, and all others into More.
func (m *AvailabilityRequest) UnmarshalJSON(text []byte) error {
	more, err := wire.Split(text, (*plainAvailabilityRequest)(m), "flo_campaign_id", "flo_supplier_id", "state", "zip", "zip3", "source", "tcpa_consent", "consent_cert_url", "ai_quality_score")
	m.More = more
	return err
}
