package contract

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pingpost/api"
)

// Contract is a document that traffic can be held against. It is safe for many
// goroutines.
type Contract struct {
	root    object
	admin   bool                 // it is that of the operators' address
	open    *jsonschema.Compiler // of requests: members that nobody has named are fine
	closed  *jsonschema.Compiler // of what the exchange says: they are not
	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema
}

// object is a JSON object, and a part of the document.
type object = map[string]any

// Own is the contract of the public addresses.
var Own = sync.OnceValue(func() *Contract { return mustNew(api.JSON()) })

// Admin is the contract of the operators' address.
var Admin = sync.OnceValue(func() *Contract {
	c := mustNew(api.AdminJSON())
	c.admin = true
	return c
})

func mustNew(document []byte) *Contract {
	c, err := New(document)
	if err != nil {
		panic("BUG: " + err.Error()) // a test reads it
	}
	return c
}

const (
	openURL   = "https://contract.invalid/open.json"
	closedURL = "https://contract.invalid/closed.json"
)

// New reads a document, as JSON.
func New(document []byte) (*Contract, error) {
	c := &Contract{open: jsonschema.NewCompiler(), closed: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	for _, compiler := range [...]*jsonschema.Compiler{c.open, c.closed} {
		compiler.DefaultDraft(jsonschema.Draft2020)
		compiler.AssertFormat()
	}
	for url, compiler := range map[string]*jsonschema.Compiler{openURL: c.open, closedURL: c.closed} {
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
		if err != nil {
			return nil, fmt.Errorf("the document is no JSON: %w", err)
		}
		root, ok := parsed.(object)
		if !ok {
			return nil, fmt.Errorf("the document is no object")
		}
		if url == closedURL {
			shut(root)
		} else {
			c.root = root
		}
		if err := compiler.AddResource(url, root); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// shut has every named schema of an object take its own members alone, unless it says
// that it takes others.
func shut(root object) {
	schemas, _ := at(root, "components", "schemas").(object)
	for _, schema := range schemas {
		s, _ := schema.(object)
		if _, says := s["additionalProperties"]; s["type"] == "object" && !says {
			s["additionalProperties"] = false
		}
	}
}

// at walks down by member names; nil: there is nothing.
func at(from any, names ...string) any {
	for _, name := range names {
		o, _ := from.(object)
		from = o[name]
	}
	return from
}

// place is a part of the document, and where it stands there as a JSON pointer.
type place struct {
	at  string
	its object
}

// pointer escapes member names (RFC 6901).
var pointer = strings.NewReplacer("~", "~0", "/", "~1")

// of is a part of the part; its reference is followed. Not ok: there is none.
func (c *Contract) of(p place, names ...string) (place, bool) {
	for _, name := range names {
		inner, ok := p.its[name].(object)
		if !ok {
			return place{}, false
		}
		p = place{p.at + "/" + pointer.Replace(name), inner}
		if ref, ok := inner["$ref"].(string); ok {
			p = c.referred(ref)
		}
	}
	return p, true
}

func (c *Contract) referred(ref string) place {
	names := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
	its, ok := at(c.root, names...).(object)
	if !ok {
		panic("BUG: the document refers to nothing: " + ref)
	}
	return place{ref[1:], its}
}

// operation finds what a request calls. A path without parameters goes before one with
// them. Known: there is such a path; its methods are then told.
func (c *Contract) operation(method, path string) (op place, methods []string, known bool) {
	paths, _ := c.root["paths"].(object)
	template := path
	if _, exact := paths[path]; !exact {
		for candidate := range paths {
			if fits(candidate, path) {
				template = candidate
			}
		}
	}
	item, known := c.of(place{"", c.root}, "paths", template)
	if !known {
		return place{}, nil, false
	}
	for name := range item.its {
		methods = append(methods, strings.ToUpper(name))
	}
	if method == http.MethodHead && !c.admin {
		method = http.MethodGet
	}
	op, _ = c.of(item, strings.ToLower(method))
	return op, methods, true
}

// fits tells whether a path is one that the template with its parameters stands for.
func fits(template, path string) bool {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && (!strings.HasPrefix(want[i], "{") || got[i] == "") {
			return false
		}
	}
	return true
}

// schema is the compiled one at a place.
func (c *Contract) schema(p place, compiler *jsonschema.Compiler) (*jsonschema.Schema, error) {
	url := openURL
	if compiler == c.closed {
		url = closedURL
	}
	url += "#" + p.at
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.schemas[url]; s != nil {
		return s, nil
	}
	s, err := compiler.Compile(url)
	if err == nil {
		c.schemas[url] = s
	}
	return s, err
}
