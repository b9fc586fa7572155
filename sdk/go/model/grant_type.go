// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// GrantType is: The supported grant.
// Others than those below may come.
type GrantType string

const (
	GrantTypeClientCredentials GrantType = "client_credentials"
)
