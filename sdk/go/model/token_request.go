// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// TokenRequest is: A client's credentials, to get a token. Other members and parameters are ignored.
type TokenRequest struct {
	GrantType GrantType `json:"grant_type"`
	// The client's id, here or by HTTP Basic.
	ClientID *string `json:"client_id,omitzero"`
	// The client's secret, next to its id.
	ClientSecret *string `json:"client_secret,omitzero"`
	// The token's scopes: some of `ping`, `post` and `webhook`, separated by spaces. By default all scopes of the client.
	Scope *string `json:"scope,omitzero"`
}
