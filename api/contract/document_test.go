package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"pingpost/api"
	"pingpost/api/errcode"
	"pingpost/internal/must"
)

// sorted returns the document as JSON with sorted members.
func sorted(t *testing.T) string {
	t.Helper()
	var whole any
	must.Succeed(t, json.Unmarshal(api.PublicJSON(), &whole))
	return string(must.Value(json.Marshal(whole))(t))
}

// documents are both contracts.
var documents = map[string]*Contract{"openapi.yaml": Public(), "admin.yaml": Admin()}

// Independent libraries validate the documents and their examples.
func TestDocument(t *testing.T) {
	for form, text := range map[string][]byte{"YAML": api.PublicYAML(), "JSON": api.PublicJSON(), "admin YAML": api.AdminYAML(), "admin JSON": api.AdminJSON()} {
		if testing.Short() && strings.HasSuffix(form, "JSON") {
			continue // it is made from the YAML
		}
		loader := openapi3.NewLoader()
		document, err := loader.LoadFromData(text)
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		if err := document.Validate(loader.Context); err != nil {
			t.Errorf("%s: %v", form, err)
		}
		if !strings.HasPrefix(document.OpenAPI, "3.1.") || len(document.Webhooks) < 7 && !strings.HasPrefix(form, "admin") {
			t.Errorf("%s: version %s, %d webhooks", form, document.OpenAPI, len(document.Webhooks))
		}
	}
}

// walk visits every object of the document.
func walk(from any, path string, see func(path string, o object)) {
	switch from := from.(type) {
	case object:
		see(path, from)
		for name, inner := range from {
			walk(inner, path+"/"+pointer.Replace(name), see)
		}
	case []any:
		for i, inner := range from {
			walk(inner, path+"/"+strconv.Itoa(i), see)
		}
	}
}

func TestContracts(t *testing.T) {
	for name, c := range documents {
		t.Run(name+"/schemas", func(t *testing.T) { testSchemas(t, c) })
		t.Run(name+"/descriptions", func(t *testing.T) { testDescriptions(t, c) })
		t.Run(name+"/error codes", func(t *testing.T) { testErrorCodes(t, c) })
	}
}

// Every schema compiles, and every example matches its schema. Examples of the exchange's own
// data are checked strictly.
func testSchemas(t *testing.T, c *Contract) {
	examples := 0
	walk(c.root, "", func(path string, o object) {
		schema, ok := c.resolve(documentPart{path, o}, "schema")
		if !ok {
			return
		}
		compiler := c.closedCompiler
		if strings.HasPrefix(path, "/paths/") && strings.Contains(path, "/requestBody/") {
			compiler = c.openCompiler
		}
		if _, err := c.compileSchema(schema, compiler); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		named, _ := o["examples"].(object)
		for name := range named {
			example, _ := c.resolve(documentPart{path, o}, "examples", name)
			examples++
			text := must.Value(json.Marshal(example.value["value"]))(t)
			f := &mismatches{}
			if f.checkValue(name, c, schema, compiler, text); f.err(path) != nil {
				t.Error(f.err(path))
			}
		}
	})
	if examples < 50 {
		t.Errorf("%d examples", examples)
	}
}

// Everything that can have a description has one.
func testDescriptions(t *testing.T, c *Contract) {
	walk(c.root, "", func(path string, o object) {
		_, described := o["description"].(string)
		_, refers := o["$ref"]
		parent := path[:max(0, strings.LastIndex(path, "/"))]
		what := parent[strings.LastIndex(parent, "/")+1:]
		switch {
		case described || refers || strings.Contains(path, "/examples/"):
		case (what == "schemas" || what == "properties") && !strings.HasSuffix(path, "/properties"),
			what == "headers", what == "responses", what == "parameters", what == "variables", what == "securitySchemes":
			t.Errorf("%s is not described", path)
		case what == "items" && o["properties"] != nil:
			t.Errorf("%s has no name", path)
		}
	})
}

func (c *Contract) answersWith(e errcode.Error) bool {
	return c.admin && e.Admin || !c.admin && e.Public
}

// A document has exactly its codes of errors.yaml, each with an example and in answers of its
// status.
func testErrorCodes(t *testing.T, c *Contract) {
	var want []any
	for _, e := range errcode.Errors {
		if c.answersWith(e) {
			want = append(want, e.Code)
		}
	}
	if got := at(c.root, "components", "schemas", "ErrorCode", "enum").([]any); !slices.Equal(got, want) {
		t.Errorf("ErrorCode has\n%v, and errors.yaml\n%v", got, want)
	}
	want = nil
	for _, code := range errcode.Fields {
		want = append(want, code)
	}
	if got := at(c.root, "components", "schemas", "FieldErrorCode", "enum").([]any); !slices.Equal(got, want) {
		t.Errorf("FieldErrorCode has\n%v, and errors.yaml\n%v", got, want)
	}
	shown, fields := map[string]bool{}, map[string]bool{}
	paths, _ := c.root["paths"].(object)
	for path := range paths {
		walk(paths[path], "", func(at string, o object) {
			responses, _ := o["responses"].(object)
			for status := range responses {
				media, ok := c.resolve(documentPart{"", o}, "responses", status, "content", "application/json")
				if !ok || status < "400" {
					continue
				}
				examples, _ := media.value["examples"].(object)
				for name := range examples {
					example, _ := c.resolve(media, "examples", name)
					value, _ := example.value["value"].(object)
					code := fmt.Sprint(value["error"])
					e, _ := errcode.Of(code)
					if fmt.Sprint(e.Status) != status {
						t.Errorf("%s%s: %s has the example %s, of %q", path, at, status, name, code)
					}
					shown[code] = true
					list, _ := value["field_errors"].([]any)
					for _, one := range list {
						fields[fmt.Sprint(one.(object)["code"])] = true
					}
				}
			}
		})
	}
	for _, e := range errcode.Errors {
		if c.answersWith(e) && !shown[e.Code] {
			t.Errorf("no example of %s", e.Code)
		}
	}
	t.Logf("examples of fields' codes: %v", slices.Sorted(maps.Keys(fields)))
}
