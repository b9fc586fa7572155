// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"

	"pingpost/sdk/go/wire"
)

// IngestRequest is: A whole lead. Beside the members below it has those that the campaign's field mapping names. What nobody has named is dropped, kept for the buyer, or refused as `unknown_field`, as the campaign says.
type IngestRequest struct {
	// The campaign that the lead is for.
	FloCampaignID string `json:"flo_campaign_id"`
	// The supplier that sends it, which is the one that the API key belongs to.
	FloSupplierID string `json:"flo_supplier_id"`
	// The `ping_id` of a `POST /api/v1/ping`, to sell to a buyer that it offered. Together with `flo_buyer_id`.
	FloPingID *string `json:"flo_ping_id,omitzero"`
	// The buyer that was chosen of those in that answer. Together with `flo_ping_id`.
	FloBuyerID *string `json:"flo_buyer_id,omitzero"`
	// Text of at most 4,096 bytes that is not blank, without control characters but tabs and ends of lines.
	FirstName string `json:"first_name"`
	// Text of at most 4,096 bytes that is not blank, without control characters but tabs and ends of lines.
	LastName string `json:"last_name"`
	// A phone number of digits, spaces, `( ) - .` and a leading `+`, at most 15 digits. A US number unless it begins with `+`. It must be one that can have been given to somebody; 555-0100 to 555-0199 count as such in any US area code. Stored, and sent to buyers, in E.164 form.
	Phone string `json:"phone"`
	// An email address: a dot-atom of at most 64 bytes, `@`, and two or more DNS labels with no hyphen at their ends, 254 bytes in all. No quotes, no address literal, no display name. Its domain is stored in lower case; compared and hashed it is lower case throughout.
	Email string     `json:"email"`
	State *StateCode `json:"state,omitzero"`
	// Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
	Line1 *string `json:"line1,omitzero"`
	// Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
	City *string `json:"city,omitzero"`
	// A ZIP code of five digits, or ZIP+4.
	Zip *string `json:"zip,omitzero"`
	// Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
	Source *string `json:"source,omitzero"`
	// Whether the person has agreed to be called.
	TCPAConsent *bool `json:"tcpa_consent,omitzero"`
	// Where the certificate of the person's consent is: an absolute https address, with neither user nor password. Required where `source` is one for which the campaign asks for it. A campaign may also name the hosts that it takes.
	ConsentCertURL *string `json:"consent_cert_url,omitzero"`
	// The words that were agreed to, of at most 16,384 bytes, without control characters but tabs and ends of lines.
	ConsentText *string `json:"consent_text,omitzero"`
	// When consent was given, as RFC 3339 has it, in any offset, with at most nine decimals.
	ConsentTimestamp *time.Time `json:"consent_timestamp,omitzero"`
	// Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
	IPAddress *string `json:"ip_address,omitzero"`
	// How good the lead is held to be, commonly from 0 to 1.
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
	more, err := wire.Split(text, (*plainIngestRequest)(m), "flo_campaign_id", "flo_supplier_id", "flo_ping_id", "flo_buyer_id", "first_name", "last_name", "phone", "email", "state", "line1", "city", "zip", "source", "tcpa_consent", "consent_cert_url", "consent_text", "consent_timestamp", "ip_address", "ai_quality_score")
	m.More = more
	return err
}
