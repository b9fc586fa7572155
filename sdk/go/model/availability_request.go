// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"pingpost/sdk/go/wire"
)

// AvailabilityRequest is: Partial data of a lead, to get bids. It has the members below and the campaign's ping fields. Members for contact data are rejected at any depth with `contact_field_not_allowed`, by the names that `PingRequest` lists. If the campaign has its own field named `campaign_id` or `supplier_id`, the member is that field, and the request needs the `flo_` name.
type AvailabilityRequest struct {
	// The campaign, which must have the method `ping_post`.
	CampaignID string `json:"campaign_id,omitzero"`
	// The supplier, which must own the API key.
	SupplierID string `json:"supplier_id,omitzero"`
	// Another name of `campaign_id`. If both are present, they must be equal.
	FloCampaignID string `json:"flo_campaign_id,omitzero"`
	// Another name of `supplier_id`. If both are present, they must be equal.
	FloSupplierID string     `json:"flo_supplier_id,omitzero"`
	State         *StateCode `json:"state,omitzero"`
	// A ZIP code of five digits, or ZIP+4.
	Zip *string `json:"zip,omitzero"`
	// The first three digits of a ZIP code.
	Zip3 *string `json:"zip3,omitzero"`
	// Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
	Source *string `json:"source,omitzero"`
	// Whether the person agreed to calls.
	TCPAConsent *bool `json:"tcpa_consent,omitzero"`
	// The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
	ConsentCertURL *string `json:"consent_cert_url,omitzero"`
	// The lead's estimated quality, usually from 0 to 1.
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
	more, err := wire.Split(text, (*plainAvailabilityRequest)(m), "campaign_id", "supplier_id", "flo_campaign_id", "flo_supplier_id", "state", "zip", "zip3", "source", "tcpa_consent", "consent_cert_url", "ai_quality_score")
	m.More = more
	return err
}
