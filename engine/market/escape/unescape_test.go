package escape_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/market/escape"
)

func TestAppendJSONUnescaped(t *testing.T) {
	for raw, want := range map[string]string{
		``:                            "",
		`Ann`:                         "Ann",
		`a\"b\\c\/d`:                  `a"b\c/d`,
		`\b\f\n\r\t`:                  "\b\f\n\r\t",
		`\u0041\u00e9\u20AC`:          "Aé€",
		`x\ud83D\uDE00y`:              "x\U0001F600y",
		`é` + "\U0001F600":            "é\U0001F600",
		`\ud83d`:                      "\uFFFD",
		`\ud83d\u0041`:                "\uFFFD",
		`\udE00x`:                     "\uFFFDx",
		`a\`:                          "a\uFFFD",
		`a\u12`:                       "a\uFFFD",
		`a\u12zz`:                     "a\uFFFD",
		`\u`:                          "\uFFFD",
		"p\\u0068one":                 "phone",
		`\\u0041`:                     `\u0041`,
		`first\u005Fname\u0000\u001f`: "first_name\x00\x1f",
	} {
		if got := string(escape.AppendJSONUnescaped([]byte("> "), []byte(raw))); got != "> "+want {
			t.Errorf("%s: %q, want %q", raw, got, "> "+want)
		}
	}
}

func TestUnescapeReversesEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(escape.AppendJSONUnescaped(nil, quoted[1:len(quoted)-1])); got != text {
			t.Fatalf("%s: %q", quoted, got)
		}
	})
}
