package api

import (
	_ "embed"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed openapi.yaml
var document []byte

// YAML is the document as it was written. Nobody may change it.
func YAML() []byte { return document }

// JSON is the document for programs: the same members in the same order. Nobody may
// change it.
var JSON = sync.OnceValue(func() []byte {
	converted, err := yaml.YAMLToJSON(document)
	if err != nil {
		panic("BUG: the document is no YAML: " + err.Error()) // a test converts it
	}
	return converted
})
