package config

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"pingpost/config/canonical"
	"pingpost/config/schema"
	"pingpost/config/syntax"
)

// FuzzDocument checks that:
//   - an exported document compiles to the same canonical document and the same export;
//   - a document has no diff to itself, and diffs to base in both directions have the same length;
//   - a sent document reads only secrets from the environment;
//   - every error is *Problems with a file, a line and a message.
func FuzzDocument(f *testing.F) {
	text, err := os.ReadFile("testdata/exchange.example.yaml")
	if err != nil {
		f.Fatal(err)
	}
	full, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		string(text), string(full), base, "{}", "", "[]", "null", "a: [", "{a: {b: ", "- - - -", "? a\n: b",
		"a: &x 1\nb: *x\n", "admin: {password: ${A}}", "---\n---\n", "a:\n- b\n -c\n", "a: |\n  b\n", "a: >-\n  b\n", "\xff",
		"{\"suppliers\":[{\"id\":\"\\ud800\"}]}", "suppliers: [{id: a},]", "a: 'b''c'\n", "\ufeff{}", "a: \"\\x\"", "<<: {}",
	} {
		f.Add([]byte(seed))
	}
	for _, more := range []string{
		"    fields: [{name: 'a: b', type: enum, values: ['1', 'true', '~', ' x', '$${A}', 'no', \"a\\tb\"]}]\n", "    caps: [{per: day, count: 1}, {per: day, money: 2.50}]\n",
		"    filters: [{field: state, in: [CA]}]\n", "    duplicates: {window: 90m}\n", "    returns: {window: 14d}\n", "    floor: 0.000001\n    payout: {share: 0.8}\n", "admin: {password: p}\n", "data_dir: |\n  a\n", "limits: {body: 1KiB}\n",
	} {
		f.Add([]byte(base + more))
	}
	for _, word := range []string{ // texts that need quotes in YAML
		"true", "null", "~", "12", "1e3", "0x1", "no", "- a", "a: b", "#x", "$${A}", "$$${A}", "{a}", "[a]", "'", "\"", "\\", "%a", "@a", "a #b", "é ü", "2026-01-01", "12:30", "=", "<<", "*a", "&a", "!a", "|", ">", "?", "-", "--- a", " a", "a ", "😀",
	} {
		f.Add([]byte(`suppliers: [{id: a, name: ` + syntax.QuoteForJSONAndYAML(word) + `}]`))
	}
	env := func(name string) (string, bool) { return "whsec_aGk=" + strings.ToLower(name), len(name) > 1 }
	baseline := compileText(f, base, nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		source, err := parseDocument(&schema.Binder{Reader: &syntax.Reader{File: "fuzz", Env: env}, Sent: true, AllowUnset: true}, data, nil)
		var exchange *CompiledDocument
		if err == nil {
			exchange, err = source.Compile()
		}
		if err != nil {
			var problems *syntax.Problems
			if !errors.As(err, &problems) || len(*problems) == 0 || strings.Contains(err.Error(), "whsec_aGk=") {
				t.Fatalf("the error shows a secret or has no problems: %v", err)
			}
			for _, problem := range *problems {
				if problem.Message == "" || problem.File != "fuzz" || problem.Line < 1 || strings.Contains(problem.Path, "\n") {
					t.Fatalf("%#v", problem)
				}
			}
			return
		}
		if changes := canonical.Diff(exchange.Canonical, exchange.Canonical); len(changes) > 0 {
			t.Fatalf("a document differs from itself: %v", changes)
		}
		if bytes.Contains(exchange.Canonical, []byte("whsec_aGk=")) {
			t.Fatalf("the canonical document contains a secret:\n%s", exchange.Canonical)
		}
		forward, backward := canonical.Diff(baseline.Canonical, exchange.Canonical), canonical.Diff(exchange.Canonical, baseline.Canonical)
		if len(forward) != len(backward) || (len(forward) == 0) != bytes.Equal(removeVariableNames(baseline.Canonical), removeVariableNames(exchange.Canonical)) {
			t.Fatalf("forward diff %v\nbackward diff %v", forward, backward)
		}
		checkRoundTrip(t, exchange)
	})
}

// checkRoundTrip encodes a document as JSON and as YAML, and parses both without secret values.
func checkRoundTrip(t *testing.T, exchange *CompiledDocument) {
	export := exchange.ExportYAML()
	for _, encoded := range [][]byte{exchange.Canonical, export} {
		source, err := ParseStoredDocument(encoded)
		if err != nil {
			t.Fatalf("cannot parse the encoded document: %v\n%s", err, encoded)
		}
		again, err := source.Compile()
		if err != nil {
			t.Fatalf("cannot compile the encoded document: %v\n%s", err, encoded)
		}
		if !bytes.Equal(removeVariableNames(again.Canonical), removeVariableNames(exchange.Canonical)) || len(canonical.Diff(exchange.Canonical, again.Canonical)) > 0 {
			t.Fatalf("document\n%s\nencoded\n%s\nparsed\n%s", exchange.Canonical, encoded, again.Canonical)
		}
		if twice := again.ExportYAML(); !bytes.Equal(twice, export) {
			t.Fatalf("the exports differ:\n%s\n%s", export, twice)
		}
	}
}
