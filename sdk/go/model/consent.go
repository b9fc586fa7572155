// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"

	"pingpost/sdk/go/wire"
)

// Consent is: What is known of the person's consent to be called.
type Consent struct {
	// The words that were agreed to, of at most 16,384 bytes, without control characters but tabs and ends of lines.
	ConsentText *string `json:"consent_text,omitzero"`
	// When consent was given, as RFC 3339 has it, in any offset, with at most nine decimals.
	ConsentTimestamp *time.Time `json:"consent_timestamp,omitzero"`
	// Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
	IPAddress *string `json:"ip_address,omitzero"`
	// Where the certificate of the person's consent is: an absolute https address, with neither user nor password. Required where `source` is one for which the campaign asks for it. A campaign may also name the hosts that it takes.
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
