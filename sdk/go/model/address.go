// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"pingpost/sdk/go/wire"
)

// Address is: The person's address, as far as known. A `state` or a `zip` that contradicts the ping is rejected as `ping_mismatch`.
type Address struct {
	// Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
	Line1 *string `json:"line1,omitzero"`
	// Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
	City  *string    `json:"city,omitzero"`
	State *StateCode `json:"state,omitzero"`
	// A ZIP code of five digits, or ZIP+4.
	Zip *string `json:"zip,omitzero"`

	// More are the members that are not named above, such as a campaign's own fields.
	// What came has its numbers as json.Number.
	More map[string]any `json:"-"`
}

type plainAddress Address

// MarshalJSON writes the members, and those in More.
func (m Address) MarshalJSON() ([]byte, error) {
	return wire.Join(plainAddress(m), m.More)
}

// UnmarshalJSON reads the members, and all others into More.
func (m *Address) UnmarshalJSON(text []byte) error {
	more, err := wire.Split(text, (*plainAddress)(m), "line1", "city", "state", "zip")
	m.More = more
	return err
}
