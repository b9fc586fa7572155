// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// Price is: An amount of money and its currency.
type Price struct {
	// An amount of money, in units of the currency beside it, with at most six decimals.
	Amount float64 `json:"amount"`
	// A currency by ISO 4217.
	Currency string `json:"currency"`
}
