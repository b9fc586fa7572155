// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"
)

// Bid is: A bid that you can accept.
type Bid struct {
	// An amount of money in units of its currency, with at most six decimals.
	Amount float64 `json:"amount"`
	// An ISO 4217 currency code.
	Currency string `json:"currency"`
	// The token for the post. It is valid for this auction and this seller only.
	BidToken string `json:"bid_token"`
	// When the bid expires.
	ValidUntil time.Time `json:"valid_until"`
}
