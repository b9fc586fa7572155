// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// TokenResponse is: An access token.
type TokenResponse struct {
	// The token. It is opaque.
	AccessToken string    `json:"access_token"`
	TokenType   TokenType `json:"token_type"`
	// The token's lifetime in seconds from now.
	ExpiresIn int64 `json:"expires_in"`
	// The token's scopes, separated by spaces.
	Scope string `json:"scope"`
}
