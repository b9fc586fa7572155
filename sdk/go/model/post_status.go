// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// PostStatus is: A post that succeeds is always accepted.
// Others than those below may come.
type PostStatus string

const (
	PostStatusAccepted PostStatus = "ACCEPTED"
)
