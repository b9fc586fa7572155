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

// YAML is the document of the public addresses as it was written. Nobody may change it.
func YAML() []byte { return document }

// JSON is the same for programs: the same members in the same order. Nobody may change
// it.
var JSON = sync.OnceValue(func() []byte { return converted(document) })

// AdminYAML is the document of the admin address as it was written. Nobody may change it.
func AdminYAML() []byte { return admin }

// AdminJSON is the same for programs. Nobody may change it.
var AdminJSON = sync.OnceValue(func() []byte { return converted(admin) })

func converted(document []byte) []byte {
	converted, err := yaml.YAMLToJSON(document)
	if err != nil {
		panic("BUG: the document is no YAML: " + err.Error()) // a test converts it
	}
	return converted
}
