// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"

	"pingpost/sdk/go/wire"
)

// Consent is: The person's consent to calls, as far as known.
type Consent struct {
	// The text that the person agreed to, of at most 16,384 bytes. The only control characters allowed are tabs and line ends.
	ConsentText *string `json:"consent_text,omitzero"`
	// When the person gave consent, in RFC 3339 with any offset and at most nine decimals.
	ConsentTimestamp *time.Time `json:"consent_timestamp,omitzero"`
	// Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
	IPAddress *string `json:"ip_address,omitzero"`
	// The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
	ConsentCertURL *string `json:"consent_cert_url,omitzero"`

	// More are the members that are not named above, such as a campaign's own fields.
	// What came has its numbers as json.Number.
	More map[string]any `json:"-"`
}

type plainConsent Consent

// MarshalJSON writes the members, and those in More.
func (m Consent) MarshalJSON() ([]byte, error) {
	return wire.Join(plainConsent(m), m.More)
}

// UnmarshalJSON reads the members, and all others into More.
func (m *Consent) UnmarshalJSON(text []byte) error {
	more, err := wire.Split(text, (*plainConsent)(m), "consent_text", "consent_timestamp", "ip_address", "consent_cert_url")
	m.More = more
	return err
}
