// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"pingpost/sdk/go/wire"
)

// BuyerRefusal is: A buyer's rejection of a lead. All members are optional, because the status decides.
type BuyerRefusal struct {
	// The cause as a code.
	Error *string `json:"error,omitzero"`
	// The cause as text for people.
	Message *string `json:"message,omitzero"`

	// More are the members that are not named above, such as a campaign's own fields.
	// What came has its numbers as json.Number.
	More map[string]any `json:"-"`
}

type plainBuyerRefusal BuyerRefusal

// MarshalJSON writes the members, and those in More.
func (m BuyerRefusal) MarshalJSON() ([]byte, error) {
	return wire.Join(plainBuyerRefusal(m), m.More)
}

// UnmarshalJSON reads the members, and all others into More.
func (m *BuyerRefusal) UnmarshalJSON(text []byte) error {
	more, err := wire.Split(text, (*plainBuyerRefusal)(m), "error", "message")
	m.More = more
	return err
}
