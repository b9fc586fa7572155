package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"pingpost/internal/must"
)

// Each fault has its effect, and the proxy records the requests.
func TestProxyFaultsAndRecords(t *testing.T) {
	var received atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received.Add(1)
		w.Header().Set("X-Request-Id", "req_1")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"data": {"id": "a", "n": 1.50}}`)
	}))
	defer target.Close()
	for _, c := range []struct {
		name   string
		fault  *fault
		status int // 0: the connection broke
		text   string
		want   int64
	}{
		{"none", nil, 201, `{"data": {"id": "a", "n": 1.50}}`, 1},
		{"for another path", &fault{On: "POST /other", Status: 500}, 201, `{"data": {"id": "a", "n": 1.50}}`, 1},
		{"an answer", &fault{On: "POST /x?y=1", Status: 503, Body: map[string]any{"error": "e"}}, 503, `{"error":"e"}`, 0},
		{"cut before", &fault{On: "POST /x?y=1", Drop: "before"}, 0, "", 0},
		{"cut after", &fault{On: "POST /x?y=1", Drop: "after"}, 0, "", 1},
		{"changed", &fault{On: "POST /x?y=1", Set: map[string]any{"data.id": "b", "more.deep": nil}, Remove: []string{"data.n"}}, 201, `{"data":{"id":"b"},"more":{"deep":null}}`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProxy(target.URL)
			defer p.close()
			if received.Store(0); c.fault != nil {
				p.addFaults(c.fault)
			}
			text := `{"b": 2}`
			answer, err := (&rawRequest{URL: p.server.URL + "/x?y=1", Headers: map[string]string{"X-One": "1"}, Text: &text}).send()
			if err == nil && (answer["status"] != number(c.status) || answer["text"] != c.text) || received.Load() != c.want || (err == nil) != (c.status > 0) {
				t.Errorf("%v %v, received %d times", answer, err, received.Load())
			}
			records := p.matching("POST /x?y=1")
			if wrong := match("records", parseJSON(t, `[{"text": "{\"b\": 2}", "body": {"b": 2}, "headers": {"x-one": "1"}}]`), any(records), true); wrong != nil {
				t.Error(wrong)
			}
		})
	}
}

// A theme file with unknown members is an error.
func TestThemeWithUnknownMembersIsRejected(t *testing.T) {
	for text, finding := range map[string]string{
		"theme: a\ncases: [{name: n, steps: [{do: {op: describe}}]}]": "",
		"theme: a\ncases: []":                                                             "cases",
		"theme: a\ncases: [{name: n, steps: []}]":                                         "steps",
		"theme: a\nother: 1\ncases: [{name: n, steps: [{do: {}}]}]":                       "other",
		"theme: a\ncases: [{name: n, steps: [{do: {}, sent: {count: 1}}]}]":               "this one has 2",
		"theme: a\ncases: [{name: n, steps: [{do: {}, expects: {}}]}]":                    "expects",
		"theme: a\ncases: [{name: n, steps: [{fault: [{status: 503}]}]}]":                 "on",
		"theme: a\ncases: [{name: n, steps: [{fault: [{\"on\": x, drop: sometimes}]}]}]":  "drop",
		"theme: a\ncases: [{name: n, steps: [{do: {op: describe}, expect: {a: ~txet}}]}]": "unknown rule",
	} {
		path := filepath.Join(t.TempDir(), "a.yaml")
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := readTheme(path)
		if (err == nil) != (finding == "") || err != nil && !strings.Contains(err.Error(), finding) {
			t.Errorf("%s\n%v, want %q", text, err, finding)
		}
	}
	if _, err := readThemes(t.TempDir()); err == nil {
		t.Error("a folder without cases must be an error")
	}
}

// A suite without a passed case has not passed.
func TestReportRequiresPassedCase(t *testing.T) {
	for _, c := range []struct {
		results []caseResult
		passed  bool
		want    string
	}{
		{[]caseResult{{theme: "a", name: "n"}}, true, "a       1       0"},
		{[]caseResult{{theme: "a", name: "n"}, {theme: "b", name: "m", wrong: []string{"why"}}}, false, "FAILED b: m"},
		{[]caseResult{{theme: "a", name: "n", skipReason: "the SDK has no x"}}, false, "skipped: a: n (the SDK has no x)"},
		{nil, false, ""},
	} {
		var out strings.Builder
		if passed := report(&out, "x", c.results); passed != c.passed || !strings.Contains(out.String(), c.want) {
			t.Errorf("%v: passed %v\n%s", c.results, passed, out.String())
		}
	}
}
