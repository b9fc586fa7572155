package config

import (
	"bytes"
	"os"
	"reflect"
	"testing"

	"pingpost/config/schema"
)

var fullEnv = map[string]string{"ADMIN": "value-of-admin", "KEY": "value-of-key"}

func compileFullDocument(t fatalT) *CompiledDocument {
	t.Helper()
	text, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return compileText(t, string(text), fullEnv)
}

// TestFullDocumentHasEveryKey fails for a new key of the schema that testdata/full.yaml lacks.
func TestFullDocumentHasEveryKey(t *testing.T) {
	missing := map[string]bool{}
	seen := map[string]bool{}
	visitKeys(reflect.ValueOf(compileFullDocument(t).Document).Elem(), func(key string, set bool) {
		if set {
			seen[key] = true
		} else {
			missing[key] = true
		}
	})
	for key := range missing {
		if !seen[key] {
			t.Errorf("%s has no value anywhere in testdata/full.yaml", key)
		}
	}
	if len(seen) < 90 {
		t.Errorf("testdata/full.yaml has only %d keys", len(seen))
	}
}

// visitKeys calls visit for each key of the document.
func visitKeys(v reflect.Value, visit func(key string, set bool)) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			visitKeys(v.Index(i), visit)
		}
	case v.Kind() == reflect.Struct && schema.IsStructWithFixedKeys(v):
		for name, index := range schema.FieldIndexByKey(v.Type()) {
			field := v.Field(index)
			visit(v.Type().Name()+"."+name, !field.IsZero())
			visitKeys(field, visit)
		}
	}
}

func TestFullGolden(t *testing.T) {
	exchange := compileFullDocument(t)
	checkGolden(t, "testdata/full.canonical.json", append(bytes.Clone(exchange.Canonical), '\n'))
	checkGolden(t, "testdata/full.export.yaml", exchange.ExportYAML())
	for _, value := range fullEnv {
		if bytes.Contains(exchange.Canonical, []byte(value)) || bytes.Contains(exchange.ExportYAML(), []byte(value)) {
			t.Error("the golden document contains a secret")
		}
	}
}

func TestCompileIsRepeatable(t *testing.T) {
	source, err := Load("testdata/full.yaml", lookup(fullEnv))
	one, two := mustCompile(t)(source, err), mustCompile(t)(source, err)
	if !bytes.Equal(one.Canonical, two.Canonical) || !reflect.DeepEqual(one.Initial, two.Initial) || !reflect.DeepEqual(one.Settings, two.Settings) {
		t.Error("the second compilation differs from the first")
	}
}
