// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"pingpost/sdk/go/wire"
)

// BuyerRefusal is: Why a buyer refuses a lead. Nothing of it is required; the status says enough.
type BuyerRefusal struct {
	// Why, as a code for programs.
	Error *string `json:"error,omitzero"`
	// Why, in words for a person.
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
