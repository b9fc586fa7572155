package strictjson_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"pingpost/internal/must"
	"pingpost/internal/strictjson"
)

type answer struct {
	AuctionID string   `json:"auction_id"`
	Count     int64    `json:"count"`
	Small     uint8    `json:"small"`
	Reasons   []string `json:"reasons"`
}

func TestUnmarshal(t *testing.T) {
	var got answer
	must.Succeed(t, strictjson.UnmarshalUnambiguous([]byte(`{"auction_id":"a\u0031","count":-3,"small":255,"reasons":["x"],"more":{}}`), &got))
	if got.AuctionID != "a1" || got.Count != -3 || got.Small != 255 || len(got.Reasons) != 1 {
		t.Errorf("got %+v", got)
	}
	var list []int
	if err := strictjson.UnmarshalUnambiguous([]byte(`[1,2]`), &list); err != nil || len(list) != 2 {
		t.Errorf("list: %v, %v", list, err)
	}
}

func TestUnmarshalRejectsLenientJSON(t *testing.T) {
	tests := []string{
		``, `{"count":1}x`, `{"count":01}`, "{\"auction_id\":\"\n\"}", "{\"auction_id\":\"\xff\"}", `{"auction_id":"\ud800"}`,
		`{"count":1,"count":2}`, `{"count":1,"COUNT":2}`, `{"count":1,"\u0063ount":2}`, "{\"small\":1,\"\u017fmall\":2}",
		strings.Repeat(`[`, 33) + strings.Repeat(`]`, 33),
		strings.Repeat(`{"\\`, 1000), // v0.10 of the decoder read out of bounds here
	}
	for _, text := range tests {
		var got answer
		var syntax *strictjson.SyntaxError
		if err := strictjson.UnmarshalUnambiguous([]byte(text), &got); !errors.As(err, &syntax) {
			t.Errorf("%q: %v, want a SyntaxError", text, err)
		}
	}
}

func TestUnmarshalRejectsNamesDifferingInCase(t *testing.T) {
	text := objectWithMembers(60, "Field")
	text = text[:len(text)-1] + `,"fIELD7":1}`
	var got map[string]int
	err := strictjson.UnmarshalUnambiguous([]byte(text), &got)
	var syntax *strictjson.SyntaxError
	ok := errors.As(err, &syntax)
	if !ok || syntax.Offset != strings.Index(text, `"fIELD7"`) {
		t.Errorf("%v", err)
	}
	var o strictjson.Object
	if err := o.Parse([]byte(text)); err != nil {
		t.Errorf("Parse compares names exactly, but: %v", err)
	}
}

func TestUnmarshalRejectsUnfitNumbers(t *testing.T) {
	for _, text := range []string{
		`{"count":9223372036854775808}`, `{"count":18446744073709551617}`, `{"count":1e30}`, `{"count":1.5}`, `{"small":256}`, `{"small":-1}`,
		`{"count":"3"}`, `{"auction_id":3}`, `{"reasons":{}}`,
	} {
		var got answer
		err := strictjson.UnmarshalUnambiguous([]byte(text), &got)
		if err == nil {
			t.Errorf("%s: accepted as %+v", text, got)
		} else if strings.Contains(err.Error(), "9223372036854775808") {
			t.Errorf("%s: the error repeats the value: %v", text, err)
		}
	}
	var f float64
	if err := strictjson.UnmarshalUnambiguous([]byte(`1e999`), &f); err == nil || math.IsInf(f, 0) {
		t.Errorf("1e999 is decoded as %v, %v", f, err)
	}
}

func TestTypeErrorNamesTheField(t *testing.T) {
	var got answer
	err := strictjson.UnmarshalUnambiguous([]byte(`{"auction_id":31415926}`), &got)
	var typeError *strictjson.TypeError
	if !errors.As(err, &typeError) || !strings.Contains(typeError.Field, "auction_id") || typeError.Want != "string" || strings.Contains(err.Error(), "31415926") {
		t.Errorf("%#v", err)
	}
}

type panickingUnmarshaler struct{}

func (*panickingUnmarshaler) UnmarshalJSON([]byte) error { panic("boom") }

type failingUnmarshaler struct{}

var errUnmarshal = errors.New("unmarshal failed")

func (*failingUnmarshaler) UnmarshalJSON([]byte) error { return errUnmarshal }

var _ json.Unmarshaler = (*panickingUnmarshaler)(nil)

func TestUnmarshalReturnsDecoderPanicAsError(t *testing.T) {
	if err := strictjson.UnmarshalUnambiguous([]byte(`{}`), &panickingUnmarshaler{}); err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("%v", err)
	}
	if err := strictjson.UnmarshalUnambiguous([]byte(`{}`), &failingUnmarshaler{}); !errors.Is(err, errUnmarshal) {
		t.Errorf("%v", err)
	}
	if err := strictjson.UnmarshalUnambiguous([]byte(`{}`), answer{}); err == nil {
		t.Error("decoding into a non-pointer succeeds")
	}
}

func TestUnmarshalDocumentSizeLimit(t *testing.T) {
	var s string
	if err := strictjson.UnmarshalUnambiguous([]byte(`"`+strings.Repeat("x", strictjson.MaxDocument)+`"`), &s); err == nil {
		t.Error("a document over the limit is accepted")
	}
}
