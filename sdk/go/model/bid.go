// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"time"
)

// Bid is: A bid that can be taken up.
type Bid struct {
	// An amount of money, in units of the currency beside it, with at most six decimals.
	Amount float64 `json:"amount"`
	// A currency by ISO 4217.
	Currency string `json:"currency"`
	// What the post has to show. It is good for this auction and this seller alone.
	BidToken string `json:"bid_token"`
	// Until when the bid can be taken up.
	ValidUntil time.Time `json:"valid_until"`
}
