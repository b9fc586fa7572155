// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// TokenType is: The type of the token.
// Others than those below may come.
type TokenType string

const (
	TokenTypeBearer TokenType = "Bearer"
)
