// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// TokenResponse is: An access token.
type TokenResponse struct {
	// The token. It is opaque.
	AccessToken string    `json:"access_token"`
	TokenType   TokenType `json:"token_type"`
	// For how many seconds it is good, from now.
	ExpiresIn int64 `json:"expires_in"`
	// What it opens, with spaces between.
	Scope string `json:"scope"`
}
