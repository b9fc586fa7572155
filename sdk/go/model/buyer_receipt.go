// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"pingpost/sdk/go/wire"
)

// BuyerReceipt is: A buyer's acknowledgment of a lead. The exchange reads the buyer's id from `lead_id`, else `id`, else `buyer_lead_id`, else `data.id`: text or a number of at most 128 characters. It can be missing.
type BuyerReceipt struct {
	// Your id of the lead.
	LeadID *string `json:"lead_id,omitzero"`

	// More are the members that are not named above, such as a campaign's own fields.
	// What came has its numbers as json.Number.
	More map[string]any `json:"-"`
}

type plainBuyerReceipt BuyerReceipt

// MarshalJSON writes the members, and those in More.
func (m BuyerReceipt) MarshalJSON() ([]byte, error) {
	return wire.Join(plainBuyerReceipt(m), m.More)
}

// UnmarshalJSON reads the members, and all others into More.
func (m *BuyerReceipt) UnmarshalJSON(text []byte) error {
	more, err := wire.Split(text, (*plainBuyerReceipt)(m), "lead_id")
	m.More = more
	return err
}
