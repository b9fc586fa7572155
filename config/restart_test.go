package config

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pingpost/config/schema"
)

// liveSettings are the settings that take effect without a restart.
var liveSettings = []string{"trusted_proxies"}

// TestKeysPendingRestart changes each setting alone and expects its key, except for live settings.
// It covers future settings too.
func TestKeysPendingRestart(t *testing.T) {
	var current, same Settings
	if keys := current.KeysPendingRestart(&same); keys != nil {
		t.Errorf("unchanged settings are pending: %q", keys)
	}
	var gotKeys []string
	for _, path := range leafFields(reflect.TypeFor[Settings](), nil) {
		var changed Settings
		v := reflect.ValueOf(&changed).Elem()
		setNonZero(t, v.FieldByIndex(path))
		field := v.Type().FieldByIndex(path)
		keys := current.KeysPendingRestart(&changed)
		switch {
		case len(keys) == 1 && !slices.Contains(liveSettings, keys[0]):
			gotKeys = append(gotKeys, keys[0])
		case len(keys) > 0 || field.Tag.Get("effect") != "at once" || !slices.Contains(liveSettings, field.Tag.Get("key")):
			t.Errorf("%s is changed, but the pending keys are %q", field.Name, keys)
		default:
			gotKeys = append(gotKeys, field.Tag.Get("key"))
		}
	}
	slices.Sort(gotKeys)
	if want := settingKeys(reflect.TypeFor[schema.Document](), ""); !slices.Equal(slices.Compact(gotKeys), want) {
		t.Errorf("settings have the keys\n%q, the document has\n%q", gotKeys, want)
	}
}

// leafFields returns the index paths of all fields that are not groups of settings.
func leafFields(t reflect.Type, path []int) (paths [][]int) {
	for i := range t.NumField() {
		field, here := t.Field(i), append(slices.Clone(path), i)
		if field.Type.Kind() == reflect.Struct && field.Type != reflect.TypeFor[schema.Secret]() {
			paths = append(paths, leafFields(field.Type, here)...)
			continue
		}
		paths = append(paths, here)
	}
	return paths
}

// setNonZero sets a field to a nonzero value.
func setNonZero(t *testing.T, v reflect.Value) {
	switch at := v.Addr().Interface().(type) {
	case *schema.Secret:
		*at = schema.NewSecret("another")
	case *[]netip.Prefix:
		*at = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	case *[]schema.TraceCollectorHeader:
		*at = []schema.TraceCollectorHeader{{Name: "a"}}
	default:
		switch v.Kind() {
		case reflect.String:
			v.SetString("another")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case reflect.Map:
			v.Set(reflect.MakeMap(v.Type()))
		case reflect.Uint8:
			v.SetUint(1)
		case reflect.Int, reflect.Int32, reflect.Int64:
			v.SetInt(1)
		default:
			t.Fatalf("setNonZero does not support %s", v.Type())
		}
	}
}

// settingKeys returns the document's keys without those of the catalog. The two files of a
// certificate count as one.
func settingKeys(t reflect.Type, at string) (keys []string) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		kind := field.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		switch {
		case slices.Contains([]string{"suppliers", "buyers", "suppression_lists", "campaigns"}, name):
		case kind.Kind() == reflect.Struct && kind != reflect.TypeFor[schema.Secret]() && kind != reflect.TypeFor[schema.TLS]() && kind != reflect.TypeFor[schema.RoleMap]():
			keys = append(keys, settingKeys(kind, at+name+".")...)
		default:
			keys = append(keys, at+name)
		}
	}
	slices.Sort(keys)
	return keys
}
