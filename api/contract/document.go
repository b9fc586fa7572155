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

// Contract is an OpenAPI document for checks. It is safe for concurrent use.
type Contract struct {
	root           object
	admin          bool                 // the document of the admin address
	openCompiler   *jsonschema.Compiler // for requests; unknown members are allowed
	closedCompiler *jsonschema.Compiler // for the exchange's own data; unknown members are not allowed
	mu             sync.Mutex
	schemas        map[string]*jsonschema.Schema
}

// object is a JSON object of the document.
type object = map[string]any

// Public returns the contract of the public addresses.
var Public = sync.OnceValue(func() *Contract { return mustParseContract(api.PublicJSON()) })

// Admin returns the contract of the admin address.
var Admin = sync.OnceValue(func() *Contract {
	c := mustParseContract(api.AdminJSON())
	c.admin = true
	return c
})

func mustParseContract(document []byte) *Contract {
	c, err := New(document)
	if err != nil {
		panic("BUG: " + err.Error()) // a test reads the document
	}
	return c
}

const (
	openURL   = "https://contract.invalid/open.json"
	closedURL = "https://contract.invalid/closed.json"
)

// New reads a document in JSON.
func New(document []byte) (*Contract, error) {
	c := &Contract{openCompiler: jsonschema.NewCompiler(), closedCompiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	for _, compiler := range [...]*jsonschema.Compiler{c.openCompiler, c.closedCompiler} {
		compiler.DefaultDraft(jsonschema.Draft2020)
		compiler.AssertFormat()
	}
	for url, compiler := range map[string]*jsonschema.Compiler{openURL: c.openCompiler, closedURL: c.closedCompiler} {
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
		if err != nil {
			return nil, fmt.Errorf("the OpenAPI document is not JSON: %w", err)
		}
		root, ok := parsed.(object)
		if !ok {
			return nil, fmt.Errorf("the OpenAPI document is not an object")
		}
		if url == closedURL {
			forbidUnknownMembers(root)
		} else {
			c.root = root
		}
		if err := compiler.AddResource(url, root); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// forbidUnknownMembers rejects unknown members in all named object schemas, unless a schema allows
// them.
func forbidUnknownMembers(root object) {
	schemas, _ := at(root, "components", "schemas").(object)
	for _, schema := range schemas {
		s, _ := schema.(object)
		if _, says := s["additionalProperties"]; s["type"] == "object" && !says {
			s["additionalProperties"] = false
		}
	}
}

// at returns the value below the member names, or nil.
func at(from any, names ...string) any {
	for _, name := range names {
		o, _ := from.(object)
		from = o[name]
	}
	return from
}

// documentPart is a part of the document with its JSON pointer.
type documentPart struct {
	pointer string
	value   object
}

// pointer escapes member names (RFC 6901).
var pointer = strings.NewReplacer("~", "~0", "/", "~1")

// resolve returns a part below p and follows references. It returns false without such a part.
func (c *Contract) resolve(p documentPart, names ...string) (documentPart, bool) {
	for _, name := range names {
		inner, ok := p.value[name].(object)
		if !ok {
			return documentPart{}, false
		}
		p = documentPart{p.pointer + "/" + pointer.Replace(name), inner}
		if ref, ok := inner["$ref"].(string); ok {
			p = c.followReference(ref)
		}
	}
	return p, true
}

func (c *Contract) followReference(ref string) documentPart {
	names := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
	its, ok := at(c.root, names...).(object)
	if !ok {
		panic("BUG: the OpenAPI document has a reference without a target: " + ref)
	}
	return documentPart{ref[1:], its}
}

// findOperation returns the operation of a request. A path without parameters has priority. If the
// path exists, known is true and methods lists its methods.
func (c *Contract) findOperation(method, path string) (op documentPart, methods []string, known bool) {
	paths, _ := c.root["paths"].(object)
	template := path
	if _, exact := paths[path]; !exact {
		for candidate := range paths {
			if matchesTemplate(candidate, path) {
				template = candidate
			}
		}
	}
	item, known := c.resolve(documentPart{"", c.root}, "paths", template)
	if !known {
		return documentPart{}, nil, false
	}
	for name := range item.value {
		methods = append(methods, strings.ToUpper(name))
	}
	if method == http.MethodHead && !c.admin {
		method = http.MethodGet
	}
	op, _ = c.resolve(item, strings.ToLower(method))
	return op, methods, true
}

// matchesTemplate reports whether the path matches the path template.
func matchesTemplate(template, path string) bool {
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

// compileSchema returns the compiled schema of a part.
func (c *Contract) compileSchema(p documentPart, compiler *jsonschema.Compiler) (*jsonschema.Schema, error) {
	url := openURL
	if compiler == c.closedCompiler {
		url = closedURL
	}
	url += "#" + p.pointer
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
