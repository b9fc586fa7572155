// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"pingpost/sdk/go/wire"
)

// PostLead is: A whole lead of a post: the members below and the campaign's own fields. The exchange takes missing members from the ping.
type PostLead struct {
	// The sender's id of the lead, of at most 255 printable characters. In posts to buyers, the exchange's id.
	LeadUUID string `json:"lead_uuid"`
	// Text of at most 4,096 bytes that is not blank. The only control characters allowed are tabs and line ends.
	FirstName string `json:"first_name"`
	// Text of at most 4,096 bytes that is not blank. The only control characters allowed are tabs and line ends.
	LastName string `json:"last_name"`
	// An e-mail address: a dot-atom of at most 64 bytes, `@`, and two or more DNS labels without a hyphen at their ends, at most 254 bytes in total. No quotes, no address literal, no display name. The exchange stores the domain in lower case, and compares and hashes the whole address in lower case.
	Email string `json:"email"`
	// A phone number of digits, spaces, `( ) - .` and a leading `+`, with at most 15 digits. Without `+` it is a US number. It must be a valid number; 555-0100 to 555-0199 are valid in every US area code. The exchange stores and sends it in E.164 form.
	Phone   string   `json:"phone"`
	Address *Address `json:"address,omitzero"`
	TCPA    *Consent `json:"tcpa,omitzero"`
	// Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
	Source *string `json:"source,omitzero"`
	// Whether the person agreed to calls.
	TCPAConsent *bool `json:"tcpa_consent,omitzero"`
	// The lead's estimated quality, usually from 0 to 1.
	AIQualityScore *float64 `json:"ai_quality_score,omitzero"`

	// More are the members that are not named above, such as a campaign's own fields.
	// What came has its numbers as json.Number.
	More map[string]any `json:"-"`
}

type plainPostLead PostLead

// MarshalJSON writes the members, and those in More.
func (m PostLead) MarshalJSON() ([]byte, error) {
	return wire.Join(plainPostLead(m), m.More)
}

// UnmarshalJSON reads the members, and all others into More.
func (m *PostLead) UnmarshalJSON(text []byte) error {
	more, err := wire.Split(text, (*plainPostLead)(m), "lead_uuid", "first_name", "last_name", "email", "phone", "address", "tcpa", "source", "tcpa_consent", "ai_quality_score")
	m.More = more
	return err
}
