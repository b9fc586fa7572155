package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// The generated files must match errors.yaml.
func TestCurrent(t *testing.T) {
	files := must.Value(renderFiles(".."))(t)
	for name, want := range files {
		got := must.Value(os.ReadFile(filepath.Join("..", name)))(t)
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what errors.yaml makes of it: run `make api`", filepath.Join("api", name))
		}
	}
}

const good = `errors:
  - {code: rate_limited, status: 429, retry: true, where: both, when: Too many., do: Wait.}
  - {code: malformed_json, status: 400, retry: false, where: admin, when: No JSON., do: Mend it.}
fields:
  - {code: too_long, when: Too long.}
`

func TestConstants(t *testing.T) {
	c := must.Value(parseErrorCodes([]byte(good)))(t)
	text := must.Value(c.renderConstants())(t)
	for _, line := range []string{
		`RateLimited   = "rate_limited"   // 429`, `MalformedJSON = "malformed_json" // 400`, `FieldTooLong = "too_long"`,
		`{Code: RateLimited, Status: 429, Retry: true, Public: true, Admin: true},`, `{Code: MalformedJSON, Status: 400, Retry: false, Public: false, Admin: true},`,
	} {
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
}

func TestTables(t *testing.T) {
	c := must.Value(parseErrorCodes([]byte(good)))(t)
	const page = "# Errors\n\n<!-- errors: made by `make api` from api/errors.yaml -->\nold\n<!-- end of errors -->\n\nBy hand.\n\n" +
		"<!-- fields: made by `make api` from api/errors.yaml -->\n<!-- end of fields -->\n"
	text := must.Value(c.renderTables([]byte(page)))(t)
	for _, want := range []string{
		"# Errors\n", "\nBy hand.\n", "| 429 | `rate_limited` | Too many. | Wait. | yes |\n",
		"| 400 | `malformed_json` (admin address) | No JSON. | Mend it. | no |\n", "| `too_long` | Too long. |\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "old") {
		t.Error("what was between the marks is still there")
	}
	again, err := c.renderTables(text)
	if err != nil || !bytes.Equal(again, text) {
		t.Errorf("made once more it is another: %v", err)
	}
	if _, err := c.renderTables([]byte("# Errors\n")); err == nil {
		t.Error("a page without marks was taken")
	}
}

func TestMistakes(t *testing.T) {
	for _, row := range []struct{ old, instead, want string }{
		{"too_long", "TooLong", `"TooLong" is invalid`},
		{"too_long", "rate_limited", "rate_limited occurs twice"},
		{"when: Too many.", `when: ""`, "rate_limited: when is missing"},
		{"do: Wait.", `do: ""`, "rate_limited: do is missing"},
		{"status: 429", "status: 200", "status 200 is not an error status"},
		{"where: both", "where: all", `where is "all"`},
		{"retry: true", "retry: false", "rate_limited: with status 429 retry must be true"},
		{"retry: false", "retry: true", "malformed_json: with status 400 retry must be false"},
		{"do: Wait.", "do: Wait., why: not", "why"},
		{"fields:\n  - {code: too_long, when: Too long.}\n", "fields: []\n", "at least one code"},
	} {
		if _, err := parseErrorCodes([]byte(strings.Replace(good, row.old, row.instead, 1))); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s for %s: %v, want %q", row.instead, row.old, err, row.want)
		}
	}
}
