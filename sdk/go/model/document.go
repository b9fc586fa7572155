// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

import (
	"pingpost/sdk/go/wire"
)

// Document is: An OpenAPI document.
type Document struct {
	// The version of OpenAPI.
	Openapi string `json:"openapi"`
	// The document's metadata.
	Info map[string]interface{} `json:"info"`
	// The operations.
	Paths map[string]interface{} `json:"paths"`

	// More are the members that are not named above, such as a campaign's own fields.
	// What came has its numbers as json.Number.
	More map[string]any `json:"-"`
}

type plainDocument Document

// MarshalJSON writes the members, and those in More.
func (m Document) MarshalJSON() ([]byte, error) {
	return wire.Join(plainDocument(m), m.More)
}

// UnmarshalJSON reads the members, and all others into More.
func (m *Document) UnmarshalJSON(text []byte) error {
	more, err := wire.Split(text, (*plainDocument)(m), "openapi", "info", "paths")
	m.More = more
	return err
}
