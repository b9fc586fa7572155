package config

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pingpost/config/schema"
)

// atOnce are the settings that need no start: what reads them is told of a change.
var atOnce = []string{"trusted_proxies"}

// TestWaiting: each setting by itself, changed, is named, but for those that take effect
// at once. So is one that there is from tomorrow on.
func TestWaiting(t *testing.T) {
	var is, same Settings
	if keys := is.KeysPendingRestart(&same); keys != nil {
		t.Errorf("nothing was changed, and %q wait", keys)
	}
	var named []string
	for _, path := range leaves(reflect.TypeFor[Settings](), nil) {
		var now Settings
		v := reflect.ValueOf(&now).Elem()
		another(t, v.FieldByIndex(path))
		field := v.Type().FieldByIndex(path)
		keys := is.KeysPendingRestart(&now)
		switch {
		case len(keys) == 1 && !slices.Contains(atOnce, keys[0]):
			named = append(named, keys[0])
		case len(keys) > 0 || field.Tag.Get("effect") != "at once" || !slices.Contains(atOnce, field.Tag.Get("key")):
			t.Errorf("%s was changed, and %q wait", field.Name, keys)
		default:
			named = append(named, field.Tag.Get("key"))
		}
	}
	slices.Sort(named)
	if want := documentKeys(reflect.TypeFor[schema.Document](), ""); !slices.Equal(slices.Compact(named), want) {
		t.Errorf("settings have the keys\n%q, the document has\n%q", named, want)
	}
}

// leaves are the fields that are no struct of settings, by their way there.
func leaves(t reflect.Type, path []int) (paths [][]int) {
	for i := range t.NumField() {
		field, here := t.Field(i), append(slices.Clone(path), i)
		if field.Type.Kind() == reflect.Struct && field.Type != reflect.TypeFor[schema.Secret]() {
			paths = append(paths, leaves(field.Type, here)...)
			continue
		}
		paths = append(paths, here)
	}
	return paths
}

// another gives a field another value than none.
func another(t *testing.T, v reflect.Value) {
	switch at := v.Addr().Interface().(type) {
	case *schema.Secret:
		*at = schema.NewSecret("another")
	case *[]netip.Prefix:
		*at = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	case *[]schema.CollectorHeader:
		*at = []schema.CollectorHeader{{Name: "a"}}
	default:
		switch v.Kind() {
		case reflect.String:
			v.SetString("another")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int, reflect.Int32, reflect.Int64:
			v.SetInt(1)
		default:
			t.Fatalf("this test knows no other value of %s", v.Type())
		}
	}
}

// documentKeys are the document's but the catalog's, which a change puts into force. The
// two files of a certificate go together.
func documentKeys(t reflect.Type, at string) (keys []string) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		kind := field.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		switch {
		case slices.Contains([]string{"suppliers", "buyers", "suppression_lists", "campaigns"}, name):
		case kind.Kind() == reflect.Struct && kind != reflect.TypeFor[schema.Secret]() && kind != reflect.TypeFor[schema.TLS]():
			keys = append(keys, documentKeys(kind, at+name+".")...)
		default:
			keys = append(keys, at+name)
		}
	}
	slices.Sort(keys)
	return keys
}
