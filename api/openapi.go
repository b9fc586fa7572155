package api

import (
	_ "embed"
	"sync"

	"github.com/goccy/go-yaml"
)

var (
	//go:embed openapi.yaml
	document []byte

	//go:embed admin.yaml
	admin []byte
)

// PublicYAML returns the public document as written. The caller must not change it.
func PublicYAML() []byte { return document }

// PublicJSON returns the public document as JSON, with the same order of members. The caller must not
// change it.
var PublicJSON = sync.OnceValue(func() []byte { return toJSON(document) })

// AdminYAML returns the admin document as written. The caller must not change it.
func AdminYAML() []byte { return admin }

// AdminJSON returns the admin document as JSON. The caller must not change it.
var AdminJSON = sync.OnceValue(func() []byte { return toJSON(admin) })

func toJSON(document []byte) []byte {
	converted, err := yaml.YAMLToJSON(document)
	if err != nil {
		panic("BUG: the OpenAPI document is not YAML: " + err.Error()) // a test converts the documents
	}
	return converted
}
