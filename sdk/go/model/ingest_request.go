// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"

	"pingpost/sdk/go/wire"
)

// IngestRequest is: A whole lead: the members below and the fields of the campaign. By the campaign's setting, unknown members are dropped, kept for the buyer, or rejected as `unknown_field`. If the campaign has its own field named `campaign_id` or `supplier_id`, the member is that field, and the request needs the `flo_` name.
type IngestRequest struct {
	// The lead's campaign.
	CampaignID string `json:"campaign_id,omitzero"`
	// The lead's supplier, which must own the API key.
	SupplierID string `json:"supplier_id,omitzero"`
	// Another name of `campaign_id`. If both are present, they must be equal.
	FloCampaignID string `json:"flo_campaign_id,omitzero"`
	// Another name of `supplier_id`. If both are present, they must be equal.
	FloSupplierID string `json:"flo_supplier_id,omitzero"`
	// The `ping_id` of a `POST /api/v1/ping`, to accept one of its offers. Requires `flo_buyer_id`.
	FloPingID *string `json:"flo_ping_id,omitzero"`
	// The buyer of the accepted offer. Requires `flo_ping_id`.
	FloBuyerID *string `json:"flo_buyer_id,omitzero"`
	// Text of at most 4,096 bytes that is not blank. The only control characters allowed are tabs and line ends.
	FirstName string `json:"first_name"`
	// Text of at most 4,096 bytes that is not blank. The only control characters allowed are tabs and line ends.
	LastName string `json:"last_name"`
	// A phone number of digits, spaces, `( ) - .` and a leading `+`, with at most 15 digits. Without `+` it is a US number. It must be a valid number; 555-0100 to 555-0199 are valid in every US area code. The exchange stores and sends it in E.164 form.
	Phone string `json:"phone"`
	// An e-mail address: a dot-atom of at most 64 bytes, `@`, and two or more DNS labels without a hyphen at their ends, at most 254 bytes in total. No quotes, no address literal, no display name. The exchange stores the domain in lower case, and compares and hashes the whole address in lower case.
	Email string     `json:"email"`
	State *StateCode `json:"state,omitzero"`
	// Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
	Line1 *string `json:"line1,omitzero"`
	// Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
	City *string `json:"city,omitzero"`
	// A ZIP code of five digits, or ZIP+4.
	Zip *string `json:"zip,omitzero"`
	// Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
	Source *string `json:"source,omitzero"`
	// Whether the person agreed to calls.
	TCPAConsent *bool `json:"tcpa_consent,omitzero"`
	// The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
	ConsentCertURL *string `json:"consent_cert_url,omitzero"`
	// The text that the person agreed to, of at most 16,384 bytes. The only control characters allowed are tabs and line ends.
	ConsentText *string `json:"consent_text,omitzero"`
	// When the person gave consent, in RFC 3339 with any offset and at most nine decimals.
	ConsentTimestamp *time.Time `json:"consent_timestamp,omitzero"`
	// Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
	IPAddress *string `json:"ip_address,omitzero"`
	// The lead's estimated quality, usually from 0 to 1.
	AIQualityScore *float64 `json:"ai_quality_score,omitzero"`

	// More are the members that are not named above, such as a campaign's own fields.
	// What came has its numbers as json.Number.
	More map[string]any `json:"-"`
}

type plainIngestRequest IngestRequest

// MarshalJSON writes the members, and those in More.
func (m IngestRequest) MarshalJSON() ([]byte, error) {
	return wire.Join(plainIngestRequest(m), m.More)
}

// UnmarshalJSON reads the members, and all others into More.
func (m *IngestRequest) UnmarshalJSON(text []byte) error {
	more, err := wire.Split(text, (*plainIngestRequest)(m), "campaign_id", "supplier_id", "flo_campaign_id", "flo_supplier_id", "flo_ping_id", "flo_buyer_id", "first_name", "last_name", "phone", "email", "state", "line1", "city", "zip", "source", "tcpa_consent", "consent_cert_url", "consent_text", "consent_timestamp", "ip_address", "ai_quality_score")
	m.More = more
	return err
}
