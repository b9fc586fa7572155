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

// FuzzDocument: what compiles is written as YAML that compiles to the same canonical
// document, in which the second writing changes nothing; it differs in nothing from
// itself, and its difference from the example, told both ways, has as many lines.
// A document that was sent reads nothing of the environment but secrets. No text panics the
// reader, and every error is *Problems with a file, a line and a message.
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
	for _, word := range []string{ // hard to write: quotes, references, and text that looks like another type
		"true", "null", "~", "12", "1e3", "0x1", "no", "- a", "a: b", "#x", "$${A}", "$$${A}", "{a}", "[a]", "'", "\"", "\\", "%a", "@a", "a #b", "é ü", "2026-01-01", "12:30", "=", "<<", "*a", "&a", "!a", "|", ">", "?", "-", "--- a", " a", "a ", "😀",
	} {
		f.Add([]byte(`suppliers: [{id: a, name: ` + syntax.Quote(word) + `}]`))
	}
	env := func(name string) (string, bool) { return "whsec_aGk=" + strings.ToLower(name), len(name) > 1 }
	first := compiled(f, base, nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		source, err := parseDocument(&schema.Binder{Reader: &syntax.Reader{File: "fuzz", Env: env}, Sent: true, AllowUnset: true}, data, nil)
		var exchange *CompiledDocument
		if err == nil {
			exchange, err = source.Compile()
		}
		if err != nil {
			var problems *syntax.Problems
			if !errors.As(err, &problems) || len(*problems) == 0 || strings.Contains(err.Error(), "whsec_aGk=") {
				t.Fatalf("a secret, or no list of problems: %v", err)
			}
			for _, problem := range *problems {
				if problem.Message == "" || problem.File != "fuzz" || problem.Line < 1 || strings.Contains(problem.Path, "\n") {
					t.Fatalf("%#v", problem)
				}
			}
			return
		}
		if changes := canonical.Diff(exchange.Canonical, exchange.Canonical); len(changes) > 0 {
			t.Fatalf("it differs from itself: %v", changes)
		}
		if bytes.Contains(exchange.Canonical, []byte("whsec_aGk=")) {
			t.Fatalf("a secret is in\n%s", exchange.Canonical)
		}
		there, back := canonical.Diff(first.Canonical, exchange.Canonical), canonical.Diff(exchange.Canonical, first.Canonical)
		if len(there) != len(back) || (len(there) == 0) != bytes.Equal(unnamed(first.Canonical), unnamed(exchange.Canonical)) {
			t.Fatalf("there %v\nand back %v", there, back)
		}
		fixedPoint(t, exchange)
	})
}

// fixedPoint writes a document as JSON and as YAML, and reads it without values for its secrets.
func fixedPoint(t *testing.T, exchange *CompiledDocument) {
	export := exchange.ExportYAML()
	for _, written := range [][]byte{exchange.Canonical, export} {
		source, err := ParseCanonical(written)
		if err != nil {
			t.Fatalf("what was written is not read: %v\n%s", err, written)
		}
		again, err := source.Compile()
		if err != nil {
			t.Fatalf("what was written does not compile: %v\n%s", err, written)
		}
		if !bytes.Equal(unnamed(again.Canonical), unnamed(exchange.Canonical)) || len(canonical.Diff(exchange.Canonical, again.Canonical)) > 0 {
			t.Fatalf("%s\nis written as\n%s\nand read as\n%s", exchange.Canonical, written, again.Canonical)
		}
		if twice := again.ExportYAML(); !bytes.Equal(twice, export) {
			t.Fatalf("written twice:\n%s\n%s", export, twice)
		}
	}
}
