// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"pingpost/sdk/go/wire"
)

// SeededPing is: The body of a ping, but for `auction_id` and `expires_at`. It also has what is usual to tell in its vertical.
type SeededPing struct {
	// A name of 1 to 255 printable characters that is not blank.
	Vertical string    `json:"vertical"`
	State    StateCode `json:"state"`
	// The first three digits of a ZIP code.
	Zip3 string `json:"zip3"`
	// Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
	Source string `json:"source"`
	// Whether the person has agreed to be called.
	TCPAConsent bool `json:"tcpa_consent"`
	// How good the lead is held to be.
	AIQualityScore float64 `json:"ai_quality_score"`
	// Where the certificate of the person's consent is: an absolute https address, with neither user nor password. Required where `source` is one for which the campaign asks for it. A campaign may also name the hosts that it takes.
	ConsentCertURL string `json:"consent_cert_url"`

	// More are the members that are not named above, such as a campaign's own fields.
	// What came has its numbers as json.Number.
	More map[string]any `json:"-"`
}

type plainSeededPing SeededPing

// MarshalJSON writes the members, and those in More.
func (m SeededPing) MarshalJSON() ([]byte, error) {
	return wire.Join(plainSeededPing(m), m.More)
}

// UnmarshalJSON reads the members, and all others into More.
func (m *SeededPing) UnmarshalJSON(text []byte) error {
	more, err := wire.Split(text, (*plainSeededPing)(m), "vertical", "state", "zip3", "source", "tcpa_consent", "ai_quality_score", "consent_cert_url")
	m.More = more
	return err
}
