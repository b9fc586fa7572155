package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// The generated files must match errors.yaml. The rest of the page is handwritten.
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
	c := must.Value(parseErrorCodes([]byte(good)))(t)
	if _, err := c.renderTables([]byte("# Errors\n")); err == nil {
		t.Error("a page without marks was taken")
	}
}
