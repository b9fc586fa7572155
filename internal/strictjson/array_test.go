package strictjson_test

import (
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/internal/strictjson"
)

func TestElementsOfAnArray(t *testing.T) {
	var o strictjson.Object
	body := `{"a":[{"x":"]"}, "b\u0041\n" ,[1,[2]],-3.5e1,true,null, "c"],"none":[ ],"one":[{}],"no":{"0":1}}`
	if err := o.Parse([]byte(body)); err != nil {
		t.Fatal(err)
	}
	kinds := map[market.JSONKind]string{
		market.JSONNull: "null", market.JSONBoolean: "boolean", market.JSONNumber: "number", market.JSONString: "string", market.JSONObject: "object", market.JSONArray: "array",
	}
	for _, test := range []struct {
		name string
		most int
		want string
		ok   bool
	}{
		{"a", 10, "object {\"x\":\"]\"}; string bA\n; array [1,[2]]; number -3.5e1; boolean true; null null; string c", true},
		{"a", 7, "object {\"x\":\"]\"}; string bA\n; array [1,[2]]; number -3.5e1; boolean true; null null; string c", true},
		{"a", 1, "object {\"x\":\"]\"}; string bA\n", true},
		{"a", 0, "object {\"x\":\"]\"}", true},
		{"none", 10, "", true},
		{"one", 10, "object {}", true},
		{"no", 10, "", false},
		{"absent", 10, "", false},
	} {
		member, _ := o.Lookup(test.name)
		elements, ok := strictjson.ParseElements(member, test.most)
		var got []string
		for _, e := range elements {
			got = append(got, kinds[e.Kind]+" "+string(e.Text))
		}
		if strings.Join(got, "; ") != test.want || ok != test.ok {
			t.Errorf("%s up to %d: %q %v, want %q %v", test.name, test.most, got, ok, test.want, test.ok)
		}
	}
}
