// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"pingpost/sdk/go/wire"
)

// PostLead is: A whole lead as a post carries it. Beside the members below it has the campaign's own fields. What it leaves out is taken from the ping.
type PostLead struct {
	// The sender's own id of the lead, of at most 255 printable characters. In posts to buyers, the exchange's.
	LeadUUID string `json:"lead_uuid"`
	// Text of at most 4,096 bytes that is not blank, without control characters but tabs and ends of lines.
	FirstName string `json:"first_name"`
	// Text of at most 4,096 bytes that is not blank, without control characters but tabs and ends of lines.
	LastName string `json:"last_name"`
	// An email address: a dot-atom of at most 64 bytes, `@`, and two or more DNS labels with no hyphen at their ends, 254 bytes in all. No quotes, no address literal, no display name. Its domain is stored in lower case; compared and hashed it is lower case throughout.
	Email string `json:"email"`
	// A phone number of digits, spaces, `( ) - .` and a leading `+`, at most 15 digits. A US number unless it begins with `+`. It must be one that can have been given to somebody; 555-0100 to 555-0199 count as such in any US area code. Stored, and sent to buyers, in E.164 form.
	Phone   string   `json:"phone"`
	Address *Address `json:"address,omitzero"`
	TCPA    *Consent `json:"tcpa,omitzero"`
	// Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
	Source *string `json:"source,omitzero"`
	// Whether the person has agreed to be called.
	TCPAConsent *bool `json:"tcpa_consent,omitzero"`
	// How good the lead is held to be, commonly from 0 to 1.
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
