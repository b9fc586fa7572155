package main

import (
	"strings"
	"testing"

	"pingpost/internal/must"
)

func TestMatchRules(t *testing.T) {
	for _, c := range []struct{ want, got, wrong string }{
		{`{"a": 1}`, `{"a": 1.0, "b": 2}`, ""},
		{`{"a": 0.1}`, `{"a": 0.10000000000000001}`, "at.a: 0.10000000000000001, want 0.1"},
		{`{"a": null}`, `{"a": null}`, ""},
		{`{"a": null}`, `{}`, "at.a: missing"},
		{`{"a": null}`, `{"a": false}`, "at.a: false, want null"},
		{`{"a": [1, 2]}`, `{"a": [1, 2, 3]}`, "want a list of 2"},
		{`[1, {"b": "x"}]`, `[1, {"b": "y"}]`, `at[1].b: "y", want "x"`},
		{`{"a": {}}`, `{"a": []}`, "want an object"},
		{`{"a": {}}`, `{"a": null}`, "want an object"},
		{`"2026-03-02T17:04:05.500Z"`, `"2026-03-02T18:04:05.5+01:00"`, ""},
		{`"2026-03-02T17:04:05.500Z"`, `"2026-03-02T17:04:05.501Z"`, "want"},
		{`{"a": "~absent"}`, `{}`, ""},
		{`{"a": "~absent"}`, `{"a": null}`, "present"},
		{`{"a": "~any"}`, `{"a": null}`, ""},
		{`{"a": "~any"}`, `{}`, "missing"},
		{`"~text"`, `""`, "want ~text"},
		{`"~text"`, `"x"`, ""},
		{`"~re ^a.c$"`, `"abc"`, ""},
		{`"~re ^a.c$"`, `"abcd"`, "want ~re"},
		{`"~not x"`, `"y"`, ""},
		{`"~not x"`, `"x"`, "want ~not x"},
		{`"~between 7 7.7"`, `7.7`, ""},
		{`"~between 7 7.7"`, `6.999`, "want ~between"},
		{`"~between 7 7.7"`, `7.701`, "want ~between"},
		{`"~between 7 7.7"`, `"7"`, "want ~between"},
		{`"~one a b"`, `"b"`, ""},
		{`"~one a b"`, `"c"`, "want ~one"},
		{`"~length 2"`, `[1, 2]`, ""},
		{`"~length 2"`, `[1]`, "want ~length"},
		{`"~number"`, `"1"`, "want ~number"},
		{`"~~text"`, `"~text"`, ""},
		{`"~~text"`, `"x"`, "want"},
	} {
		want, got := parseJSON(t, c.want), parseJSON(t, c.got)
		wrong := strings.Join(match("at", want, got, true), "; ")
		if (wrong == "") != (c.wrong == "") || !strings.Contains(wrong, c.wrong) {
			t.Errorf("%s against %s: %q, want %q", c.got, c.want, wrong, c.wrong)
		}
	}
}

func TestMatchWaits(t *testing.T) {
	for _, c := range []struct {
		want, got string
		holds     bool
	}{
		{`[]`, `null`, true},
		{`[1, 2]`, `[1, 2.2]`, true},
		{`[1, 2]`, `[1, 2.21]`, false},
		{`[1, 2]`, `[0.999, 2]`, false},
		{`[1, 2]`, `[1]`, false},
		{`[]`, `[1]`, false},
		{`["~between 3 9"]`, `[8]`, true},
	} {
		if wrong := matchSlept(parseJSON(t, c.want).([]any), parseJSON(t, c.got)); (wrong == nil) != c.holds {
			t.Errorf("%s against %s: %v", c.got, c.want, wrong)
		}
	}
}

func TestUnknownRulesAreRejected(t *testing.T) {
	for text, known := range map[string]bool{
		`{"a": ["~text", "~~what"]}`: true, `{"a": ["~txet"]}`: false, `"~re ("`: false, `{"a": {"b": "~"}}`: false,
	} {
		if err := checkRules(parseJSON(t, text)); (err == nil) != known {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestVariablesAreFilled(t *testing.T) {
	v := variables{"a": "x", "n": parseJSON(t, `[1, {"b": null}]`), "deep": parseJSON(t, `{"b": {"c": 2}}`)}
	for text, want := range map[string]string{
		`"${a}"`: `"x"`, `"-${a}${a}-"`: `"-xx-"`, `{"k": "${n}"}`: `{"k":[1,{"b":null}]}`, `"${deep.b.c}"`: `2`, `"$a"`: `"$a"`,
		`"${text 3}"`: `"aaa"`,
	} {
		filled, err := v.fill(parseJSON(t, text))
		if err != nil || string(encode(filled)) != want {
			t.Errorf("%s: %s, %v, want %s", text, encode(filled), err, want)
		}
	}
	for _, text := range []string{`"${b}"`, `["x ${b}"]`, `"${deep.c}"`} {
		if filled, err := v.fill(parseJSON(t, text)); err == nil {
			t.Errorf("%s: %v", text, filled)
		}
	}
	one, _ := v.fill("${unique}")
	if other, _ := v.fill("${unique}"); one == other || len(one.(string)) != 16 {
		t.Errorf("%v and %v", one, other)
	}
}

func parseJSON(t *testing.T, text string) any {
	t.Helper()
	v := must.Value(decode([]byte(text)))(t)
	return v
}
