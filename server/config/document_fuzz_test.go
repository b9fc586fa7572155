package config

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

// FuzzDocument: what compiles is written as YAML that compiles to the same canonical
// document, in which the second writing changes nothing; it differs in nothing from
// itself, and its difference from the example, told both ways, has as many lines.
// A document that was sent reads nothing of the environment but secrets.
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
		string(text), string(full), base, "{}", "suppliers: [{id: sup_a, api_key: '${A_KEY}'}]\n", "suppliers: [{id: sup_a, api_key: k}, {id: sup-a, api_key: l}]\n",
		"buyers: [{id: b, endpoint: https://x.example, auth: {type: header, header: X-Key, value: v}}]\n", "campaigns: [{id: c, method: waterfall, fields: [{name: 'a: b', type: enum, values: ['1', 'true', '~', '', ' x']}]}]\n",
		"campaigns: [{id: c, method: ping_post, vertical: \"a\\nb\", schedule: {time_zone: UTC, open: [Mon 00:00-01:00]}}]\n", "suppression_lists: [{id: l, kind: phone, entries: ['4155550123']}]\n",
		"suppliers:\n- id: s\n  api_key: k\n  webhook: {url: https://a.example/x, secret: whsec_aGk=}\n", "data_dir: |\n  a\n", "admin: {password: p}\nlimits: {body: 1KiB}\n",
	} {
		f.Add([]byte(seed))
	}
	env := func(name string) (string, bool) { return "whsec_aGk=" + strings.ToLower(name), len(name) > 1 }
	first := compiled(f, base, nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		source, err := ParseSent("fuzz", data, env)
		if err != nil {
			var problems *Problems
			if !errors.As(err, &problems) || strings.Contains(err.Error(), "whsec_aGk=") {
				t.Fatalf("a secret, or no list of problems: %v", err)
			}
			return
		}
		exchange, err := source.Compile()
		if err != nil {
			return
		}
		if changes := Diff(exchange.Canonical, exchange.Canonical); len(changes) > 0 {
			t.Fatalf("it differs from itself: %v", changes)
		}
		if bytes.Contains(exchange.Canonical, []byte("whsec_aGk=")) {
			t.Fatalf("a secret is in\n%s", exchange.Canonical)
		}
		there, back := Diff(first.Canonical, exchange.Canonical), Diff(exchange.Canonical, first.Canonical)
		if len(there) != len(back) || (len(there) == 0) != bytes.Equal(first.Canonical, exchange.Canonical) {
			t.Fatalf("there %v\nand back %v", there, back)
		}
		fixedPoint(t, exchange)
	})
}

// fixedPoint writes a document as YAML, with some values for its secrets, and reads it.
func fixedPoint(t *testing.T, exchange *Exchange) {
	written := exchange.Export()
	secrets := 0
	each := func(string) (string, bool) { secrets++; return "whsec_" + strings.Repeat("a", 4*secrets), true }
	source, err := Parse("written", written, each)
	if err != nil {
		t.Fatalf("what was written is not read: %v\n%s", err, written)
	}
	again, err := source.Compile()
	if err != nil {
		t.Fatalf("what was written does not compile: %v\n%s", err, written)
	}
	if !bytes.Equal(again.Canonical, exchange.Canonical) {
		t.Fatalf("%s\nis written as\n%s\nand read as\n%s", exchange.Canonical, written, again.Canonical)
	}
	if twice := again.Export(); !bytes.Equal(twice, written) {
		t.Fatalf("written twice:\n%s\n%s", written, twice)
	}
}
