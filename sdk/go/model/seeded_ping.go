// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"pingpost/sdk/go/wire"
)

// SeededPing is: The body of a ping without `auction_id` and `expires_at`, with the usual fields of its vertical.
type SeededPing struct {
	// A name of 1 to 255 printable characters that is not blank.
	Vertical string    `json:"vertical"`
	State    StateCode `json:"state"`
	// The first three digits of a ZIP code.
	Zip3 string `json:"zip3"`
	// Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
	Source string `json:"source"`
	// Whether the person agreed to calls.
	TCPAConsent bool `json:"tcpa_consent"`
	// The lead's estimated quality.
	AIQualityScore float64 `json:"ai_quality_score"`
	// The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
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
