// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"
)

// Offer is: One buyer's bid, as the supplier's payout.
type Offer struct {
	// The buyer.
	BuyerID string `json:"buyer_id"`
	// An amount of money in units of its currency, with at most six decimals.
	Amount float64 `json:"amount"`
	// An ISO 4217 currency code.
	Currency string `json:"currency"`
	// When the offer expires.
	ValidUntil time.Time `json:"valid_until"`
}
