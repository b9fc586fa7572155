package config

import (
	"reflect"
)

// KeysPendingRestart returns the keys of those settings that have another value in newSettings and
// take effect only at the next start.
func (s *Settings) KeysPendingRestart(newSettings *Settings) (keys []string) {
	visitSettingPairs(reflect.ValueOf(s).Elem(), reflect.ValueOf(newSettings).Elem(), func(field *reflect.StructField, is, wanted reflect.Value) {
		if field.Tag.Get("effect") != "at once" && !reflect.DeepEqual(is.Interface(), wanted.Interface()) {
			keys = append(keys, settingKey(field))
		}
	})
	return keys
}

// visitSettingPairs calls visit for each pair of fields of two Settings that has a key in the
// document. A pair of certificate files has one key and counts as one field.
func visitSettingPairs(is, wanted reflect.Value, visit func(field *reflect.StructField, is, wanted reflect.Value)) {
	for i := range is.NumField() {
		field := is.Type().Field(i)
		if field.Type.Kind() == reflect.Struct && field.Tag.Get("key") == "" {
			visitSettingPairs(is.Field(i), wanted.Field(i), visit)
			continue
		}
		visit(&field, is.Field(i), wanted.Field(i))
	}
}

// settingKey returns the key in the document that sets this field of Settings.
func settingKey(field *reflect.StructField) string {
	key := field.Tag.Get("key")
	if key == "" {
		panic("BUG: no key tag on the setting " + field.Name)
	}
	return key
}
