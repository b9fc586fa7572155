// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"
)

// Offer is: One buyer's bid, as the supplier would be paid it.
type Offer struct {
	// The buyer.
	BuyerID string `json:"buyer_id"`
	// An amount of money, in units of the currency beside it, with at most six decimals.
	Amount float64 `json:"amount"`
	// A currency by ISO 4217.
	Currency string `json:"currency"`
	// Until when it can be taken up.
	ValidUntil time.Time `json:"valid_until"`
}
