// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// TokenRequest is: What a client shows to get a token. Members and parameters that are not named here are passed over.
type TokenRequest struct {
	GrantType GrantType `json:"grant_type"`
	// The client. Here, or by HTTP Basic.
	ClientID *string `json:"client_id,omitzero"`
	// Its secret, beside its id.
	ClientSecret *string `json:"client_secret,omitzero"`
	// What the token is to open, some of `ping`, `post` and `webhook` with spaces between. Left out, all that the client has.
	Scope *string `json:"scope,omitzero"`
}
