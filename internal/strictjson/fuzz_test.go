package strictjson_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pingpost/internal/strictjson"
)

var seeds = []string{
	lead, `{}`, ` { } `, `{"a":{}}`, `[]`, `null`, ``, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,}`, `{"a":1}x`,
	`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"x":{"b":[{"c":1,"c":1}]}}`,
	`{"a":"\ud83d\ude00"}`, `{"a":"\ud83d"}`, `{"a":"\ude00\ud83d"}`, `{"a":"\ud83d\n"}`, `{"a":"\u00e9\/\b\f\n\r\t\\\""}`,
	"{\"a\":\"\xff\"}", "{\"a\":\"\xed\xa0\x80\"}", "{\"a\":\"\x00\"}", "\xef\xbb\xbf{}", `{"\\`, `{"a":"\`, `{"a":"\u12`,
	`{"a":[0,-0,1e3,1E-3,-1.5e+10,0.10]}`, `{"a":01}`, `{"a":-}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":+1}`, `{"a":NaN}`,
	`{"a":18446744073709551617}`, `{"a":` + strings.Repeat("9", 200) + `}`,
	`{"a":tru}`, `{"a":nulll}`, `{a:1}`, `{'a':1}`, `{"a":1 /* */}`, `{"":{"":[[],{}]}}`,
	strings.Repeat(`{"a":`, 32) + `1` + strings.Repeat(`}`, 32), strings.Repeat(`{"a":`, 31) + `[[]]` + strings.Repeat(`}`, 31),
	objectWithMembers(30, "k"), objectWithMembers(24, "k") + " ", objectWithMembers(2000, `\u006e`), `{"a":{` + objectWithMembers(40, "x")[1:] + `,"b":true,"c":false,"d":null}`,
}

// FuzzParse compares Parse with encoding/json: it accepts the same texts, except those with a
// rejectionReason, and returns the same values.
func FuzzParse(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	var o strictjson.Object // reused, as on the hot path
	f.Fuzz(func(t *testing.T, body []byte) {
		before := string(body)
		err := o.Parse(body)
		want := "not JSON"
		if json.Valid(body) {
			want = rejectionReason(body)
		}
		if (err == nil) != (want == "") {
			t.Fatalf("Parse: %v, want the rejection %q", err, want)
		}
		if string(body) != before {
			t.Fatal("Parse wrote to the body")
		}
		if err != nil {
			var syntax *strictjson.SyntaxError
			if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(body) || len(o.Members()) > 0 {
				t.Fatalf("after error %#v the object has %d members", err, len(o.Members()))
			}
			return
		}
		if got, want := objectValue(t, &o), decode(t, body); !reflect.DeepEqual(any(got), want) {
			t.Fatalf("Parse gives\n%#v, encoding/json\n%#v", got, want)
		}
	})
}

// FuzzUnmarshal compares Unmarshal with encoding/json for the types of answers and
// configurations.
func FuzzUnmarshal(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Add([]byte(`{"id":"x","count":3,"share":0.5,"on":true,"tags":["a"],"more":{"k":"v"},"inner":{"id":"y"}}`))
	type document struct {
		ID    string            `json:"id"`
		Count int64             `json:"count"`
		Small int8              `json:"small"`
		Share float64           `json:"share"`
		On    *bool             `json:"on"`
		Tags  []string          `json:"tags"`
		More  map[string]string `json:"more"`
		Inner *struct {
			ID string `json:"id"`
		} `json:"inner"`
		Raw json.RawMessage `json:"raw"`
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, want document
		gotErr := strictjson.UnmarshalUnambiguous(data, &got)
		wantErr := json.Unmarshal(data, &want)
		if gotErr == nil && wantErr != nil {
			t.Fatalf("accepted, but encoding/json rejects it: %v", wantErr)
		}
		if gotErr == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("Unmarshal gives\n%+v, encoding/json\n%+v", got, want)
		}
		var syntax *strictjson.SyntaxError
		if gotErr != nil && wantErr == nil && !errors.As(gotErr, &syntax) {
			t.Fatalf("rejected with an error other than SyntaxError: %v", gotErr)
		}
	})
}
