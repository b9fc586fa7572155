// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"

	"pingpost/sdk/go/wire"
)

// BuyerBid is: A buyer's bid.
type BuyerBid struct {
	// An amount of money in units of its currency, with at most six decimals.
	Amount float64 `json:"amount"`
	// An ISO 4217 currency code.
	Currency *string `json:"currency,omitzero"`
	// The token that the post repeats, of 1 to 512 visible ASCII characters.
	BidToken string `json:"bid_token"`
	// When the bid expires. By default after five seconds, when the exchange stops waiting.
	ValidUntil *time.Time `json:"valid_until,omitzero"`

	// More are the members that are not named above, such as a campaign's own fields.
	// What came has its numbers as json.Number.
	More map[string]any `json:"-"`
}

type plainBuyerBid BuyerBid

// MarshalJSON writes the members, and those in More.
func (m BuyerBid) MarshalJSON() ([]byte, error) {
	return wire.Join(plainBuyerBid(m), m.More)
}

// UnmarshalJSON reads the members, and all others into More.
func (m *BuyerBid) UnmarshalJSON(text []byte) error {
	more, err := wire.Split(text, (*plainBuyerBid)(m), "amount", "currency", "bid_token", "valid_until")
	m.More = more
	return err
}
