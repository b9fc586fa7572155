package config

import (
	"bytes"
	"os"
	"reflect"
	"testing"

	"pingpost/config/schema"
)

var fullEnv = map[string]string{"ADMIN": "value-of-admin", "KEY": "value-of-key"}

func full(t failer) *CompiledDocument {
	t.Helper()
	text, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return compiled(t, string(text), fullEnv)
}

// TestFullDocumentHasEveryKey keeps the full document whole: whoever adds a key
// to the form adds it there, and so to the tests that read it.
func TestFullDocumentHasEveryKey(t *testing.T) {
	missing := map[string]bool{}
	seen := map[string]bool{}
	walkForm(reflect.ValueOf(full(t).Document).Elem(), func(key string, set bool) {
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
		t.Errorf("only %d keys were seen", len(seen))
	}
}

// walkForm tells of each key of the form whether it has a value.
func walkForm(v reflect.Value, tell func(key string, set bool)) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			walkForm(v.Index(i), tell)
		}
	case v.Kind() == reflect.Struct && schema.IsMappingValue(v):
		for name, index := range schema.FieldIndexByKey(v.Type()) {
			field := v.Field(index)
			tell(v.Type().Name()+"."+name, !field.IsZero())
			walkForm(field, tell)
		}
	}
}

func TestFullGolden(t *testing.T) {
	exchange := full(t)
	golden(t, "testdata/full.canonical.json", append(bytes.Clone(exchange.Canonical), '\n'))
	golden(t, "testdata/full.export.yaml", exchange.ExportYAML())
	for _, value := range fullEnv {
		if bytes.Contains(exchange.Canonical, []byte(value)) || bytes.Contains(exchange.ExportYAML(), []byte(value)) {
			t.Error("a secret is told")
		}
	}
}

// TestCompileTwice: compiling depends on the document only, and does not change it.
func TestCompileTwice(t *testing.T) {
	source, err := Load("testdata/full.yaml", lookup(fullEnv))
	one, two := mustCompile(t)(source, err), mustCompile(t)(source, err)
	if !bytes.Equal(one.Canonical, two.Canonical) || !reflect.DeepEqual(one.Initial, two.Initial) || !reflect.DeepEqual(one.Settings, two.Settings) {
		t.Error("the second time gave something else")
	}
}
