// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// Price is: An amount of money and its currency.
type Price struct {
	// An amount of money in units of its currency, with at most six decimals.
	Amount float64 `json:"amount"`
	// An ISO 4217 currency code.
	Currency string `json:"currency"`
}
