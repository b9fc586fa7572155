package strictjson_test

import (
	"reflect"
	"testing"

	"pingpost/engine/market"
	"pingpost/internal/strictjson"
)

// FuzzElements compares the arrays of an accepted body with encoding/json's.
func FuzzElements(f *testing.F) {
	for _, list := range []string{`[]`, `[ ]`, `[1,"a",null,true,{},[]]`, `["\u00e9","],{\"" , 2.50]`, `[[[1],[2]],{"a":[3]}]`, `[1,2,3,4,5,6,7]`, `{}`, `{"0":1}`, `"[]"`, `[-3.5e1,false]`, "[\n{\"a\":1}\t,\r\"\\\\\"]"} {
		f.Add([]byte(`{"list":` + list + `}`))
	}
	const limit = 5
	var o, sub strictjson.Object
	f.Fuzz(func(t *testing.T, body []byte) {
		if o.Parse(body) != nil {
			return
		}
		whole, _ := decode(t, body).(map[string]any)
		for _, m := range o.Members() {
			elements, ok := strictjson.ParseElements(m, limit)
			want, isList := whole[string(m.Name)].([]any)
			if ok != isList || len(elements) != min(len(want), limit+1) {
				t.Fatalf("%q: %d elements, %v; want %d", m.Text, len(elements), ok, len(want))
			}
			for i, element := range elements {
				if element.Kind == market.JSONObject && sub.Parse(element.Text) != nil {
					t.Fatalf("element %q cannot be parsed", element.Text)
				}
				if got := memberValue(t, &o, element); !reflect.DeepEqual(got, want[i]) {
					t.Fatalf("element %d of %q is %#v, want %#v", i, m.Text, got, want[i])
				}
			}
		}
	})
}
