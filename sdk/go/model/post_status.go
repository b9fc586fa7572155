// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// PostStatus is: The status of a successful post.
// Others than those below may come.
type PostStatus string

const (
	PostStatusAccepted PostStatus = "ACCEPTED"
)
