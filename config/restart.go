package config

import (
	"reflect"
)

// PendingRestart names the settings in which now is another than s and that take effect at the
// next start alone, by the document's keys.
func (s *Settings) PendingRestart(now *Settings) (keys []string) {
	eachSetting(reflect.ValueOf(s).Elem(), reflect.ValueOf(now).Elem(), func(field *reflect.StructField, is, wanted reflect.Value) {
		if field.Tag.Get("effect") != "at once" && !reflect.DeepEqual(is.Interface(), wanted.Interface()) {
			keys = append(keys, settingKey(field))
		}
	})
	return keys
}

// eachSetting visits each field that a key of the document gives; those of a pair of
// certificate files, which have no key of their own, are one.
func eachSetting(is, wanted reflect.Value, visit func(field *reflect.StructField, is, wanted reflect.Value)) {
	for i := range is.NumField() {
		field := is.Type().Field(i)
		if field.Type.Kind() == reflect.Struct && field.Tag.Get("key") == "" {
			eachSetting(is.Field(i), wanted.Field(i), visit)
			continue
		}
		visit(&field, is.Field(i), wanted.Field(i))
	}
}

// settingKey is how the document calls it.
func settingKey(field *reflect.StructField) string {
	key := field.Tag.Get("key")
	if key == "" {
		panic("BUG: nobody said which key gives the setting " + field.Name)
	}
	return key
}
