package config

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"pingpost/config/syntax"
)

// FuzzParse: no text panics the reader, every error is *Problems with a file
// and a message, and what compiles has a canonical form that is a fixed point.
func FuzzParse(f *testing.F) {
	example, err := os.ReadFile("testdata/exchange.example.yaml")
	if err != nil {
		f.Fatal(err)
	}
	canonical, err := os.ReadFile("testdata/canonical.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		string(example), string(canonical), base, "", "{}", "[]", "null", "a: [", "{a: {b: ", "- - - -", "? a\n: b",
		"a: &x 1\nb: *x\n", "admin: {password: ${A}}", "---\n---\n", "a:\n- b\n -c\n", "a: |\n  b\n", "a: >-\n  b\n", "\xff",
		"{\"suppliers\":[{\"id\":\"\\ud800\"}]}", "suppliers: [{id: a},]", "a: 'b''c'\n", "\ufeff{}", "a: \"\\x\"", "<<: {}",
	} {
		f.Add([]byte(seed))
	}
	env := func(name string) (string, bool) { return "whsec_aGk=", len(name) > 1 }
	f.Fuzz(func(t *testing.T, data []byte) {
		source, err := Parse("fuzz", data, env)
		if err == nil {
			var exchange *Compiled
			if exchange, err = source.Compile(); err == nil {
				again := compiled(t, string(exchange.Canonical), nil)
				if !bytes.Equal(again.Canonical, exchange.Canonical) {
					t.Fatalf("canonical is no fixed point:\n%s\n%s", exchange.Canonical, again.Canonical)
				}
				exchange.Export()
				return
			}
		}
		var problems *syntax.Problems
		if !errors.As(err, &problems) || len(*problems) == 0 {
			t.Fatalf("not a list of problems: %v", err)
		}
		for _, problem := range *problems {
			if problem.Message == "" || problem.File != "fuzz" || problem.Line < 1 || strings.Contains(problem.Path, "\n") {
				t.Fatalf("%#v", problem)
			}
		}
	})
}
