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

// YAML returns the public document as written. The caller must not change it.
func YAML() []byte { return document }

// JSON returns the public document as JSON, with the same order of members. The caller must not
// change it.
var JSON = sync.OnceValue(func() []byte { return converted(document) })

// AdminYAML returns the admin document as written. The caller must not change it.
func AdminYAML() []byte { return admin }

// AdminJSON returns the admin document as JSON. The caller must not change it.
var AdminJSON = sync.OnceValue(func() []byte { return converted(admin) })

func converted(document []byte) []byte {
	converted, err := yaml.YAMLToJSON(document)
	if err != nil {
		panic("BUG: the document is no YAML: " + err.Error()) // a test converts the documents
	}
	return converted
}
