package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pingpost/config/syntax"
)

// base is a small valid document, to which tests add an error.
const base = `suppliers:
  - {id: sup_a}
  - {id: sup_b}
buyers:
  - {id: buy_a, endpoint: "https://a.example"}
  - {id: buy_b, endpoint: "https://b.example"}
suppression_lists:
  - {id: dnc, field: phone}
campaigns:
  - id: cmp
    vertical: auto
    method: ping_post
    buyers: [{buyer: buy_a}]
`

// compileProblems returns the problems of parsing or compiling a document.
func compileProblems(t testing.TB, text string) syntax.Problems {
	t.Helper()
	env := map[string]string{"EMPTY": "", "LEAK": "hunter2 secret", "RATE": "250", "ID": "hunter2"}
	source, err := Parse("exchange.yaml", []byte(text), lookup(env))
	if err == nil {
		_, err = source.Compile()
	}
	if err == nil {
		return nil
	}
	var problems *syntax.Problems
	if !errors.As(err, &problems) {
		t.Fatalf("not *Problems: %T", err)
	}
	return *problems
}

func TestBaseIsValid(t *testing.T) {
	if problems := compileProblems(t, base); problems != nil {
		t.Fatal(problems)
	}
}

// invalidDocument is a document with one problem, and its expected path and message.
type invalidDocument struct {
	name    string
	text    string // the problem is in the last line, or the one marked "# here"
	path    string
	message string
}

// lineOf returns the marked line, or the last one.
func lineOf(text string) int {
	before, _, found := strings.Cut(text, "# here")
	if !found {
		before = strings.TrimRight(text, "\n")
	}
	return 1 + strings.Count(before, "\n")
}

func checkProblems(t *testing.T, documents []invalidDocument) {
	t.Helper()
	for _, m := range documents {
		t.Run(m.name, func(t *testing.T) {
			got := compileProblems(t, m.text)
			if len(got) != 1 {
				t.Fatalf("%d problems, want one:\n%v", len(got), got)
			}
			if got[0].Path != m.path || !strings.Contains(got[0].Message, m.message) {
				t.Errorf("got %q\nwant path %q, message with %q", got[0].Error(), m.path, m.message)
			}
			if want := lineOf(m.text); got[0].Line != want || got[0].Column < 1 {
				t.Errorf("position %d:%d, want line %d: %v", got[0].Line, got[0].Column, want, got[0])
			}
			if strings.Contains(got[0].Error(), "hunter2") {
				t.Errorf("the message shows a value of the environment: %v", got[0])
			}
		})
	}
}

func TestInvalidKeysAndValues(t *testing.T) {
	checkProblems(t, []invalidDocument{
		{"unknown key", base + "listn: 127.0.0.1:1\n", "listn", "is listen meant?"},
		{"unknown key similar to several", base + "limits: {timeout: 5s}\n", "limits.timeout", "is idle_timeout or read_timeout or write_timeout meant?"},
		{"unknown key similar to none of few", base + "    payout: {sum: 0.5}\n", "campaigns[0].payout.sum", "use one of fixed, share"},
		{"unknown key similar to none of many", base + "fnord: 5\n", "fnord", "docs/configuration.md"},
		{"nested unknown key", base + "    payout:\n      shar: 0.5\n", "campaigns[0].payout.shar", "is share meant?"},
		{"unknown key of a small mapping", "admin:\n  colour: red\n", "admin.colour", "use one of listen, oidc, password"},
		{"a key with a space and a line break", "\"a b\\nc\": 1\n", `"a b\nc"`, "unknown key"},
		{"a number as a key", "admin: {5: a}\n", "admin.5", "unknown key"},
		{"a list as a value", "admin: {listen: []}\n", "admin.listen", "expected text, found a list"},
		{"a list as a secret", "admin: {password: []}\n", "admin.password", "found a list"},
		{"a list as a rate", "suppliers:\n  - {id: a, ping_rate: []}\n", "suppliers[0].ping_rate", "found a list"},
		{"a share that is negative", base + "    payout: {share: -0.1}\n", "campaigns[0].payout.share", "0 or more"},
		{"a share in quotes", base + "    payout: {share: \"0.1\"}\n", "campaigns[0].payout.share", "without quotes"},
		{"a bound in quotes", base + "    filters: [{field: zip, min: \"1\"}]\n", "campaigns[0].filters[0].min", "without quotes"},
		{"a bound in octal", base + "    filters: [{field: zip, min: 01}]\n", "campaigns[0].filters[0].min", "plain digits"},
		{"a duration that overflows", "history: 70000d\n", "history", "a duration such as"},
		{"repeated key", "listen: a:1\nlisten: b:1\n", "listen", "first set in line 1"},
		{"repeated key in a flow mapping", "suppliers:\n  - {id: a, id: b}\n", "suppliers[0].id", "the key is repeated"},
		{"text for a number", "suppliers:\n  - {id: a, ping_rate: \"100\"}\n", "suppliers[0].ping_rate", "without quotes"},
		{"a fraction of a rate", "suppliers:\n  - {id: a, ping_rate: 1.5}\n", "suppliers[0].ping_rate", "whole number"},
		{"an octal", "suppliers:\n  - {id: a, ping_rate: 0100}\n", "suppliers[0].ping_rate", "plain digits"},
		{"a hexadecimal", "suppliers:\n  - {id: a, ping_rate: 0x10}\n", "suppliers[0].ping_rate", "plain digits"},
		{"digits with underscores", "suppliers:\n  - {id: a, ping_rate: 1_000}\n", "suppliers[0].ping_rate", "plain digits"},
		{"a number above 64 bits", "suppliers:\n  - {id: a, ping_rate: 99999999999999999999}\n", "suppliers[0].ping_rate", "too large"},
		{"a number for text", "tenant: 2024\n", "tenant", "put it in quotes"},
		{"a boolean for text", "tenant: true\n", "tenant", "put it in quotes"},
		{"text for a boolean", "sandbox: maybe\n", "sandbox", "true or false"},
		{"a list for a mapping", "admin: [a]\n", "admin", "expected a mapping, found a list"},
		{"a mapping for a list", "suppliers: {id: a}\n", "suppliers", "expected a list, found a mapping"},
		{"text for a list", "trusted_proxies: 10.0.0.1\n", "trusted_proxies", "expected a list, found text"},
		{"a mapping for text", "listen: {a: b}\n", "listen", "expected text, found a mapping"},
		{"an empty entry", "trusted_proxies:\n  -\n", "trusted_proxies[0]", "is empty"},
		{"a duration without a unit", "history: 45\n", "history", "a duration such as"},
		{"a negative duration", "history: -1h\n", "history", "negative"},
		{"a size in words", "limits: {body: big}\n", "limits.body", "a size such as"},
		{"a negative amount", base + "    floor: -1\n", "campaigns[0].floor", "negative"},
		{"an amount of too many digits", base + "    floor: 1.0000001\n", "campaigns[0].floor", "sixth decimal"},
		{"an amount above the maximum", base + "    floor: 1000000.01\n", "campaigns[0].floor", "over 1000000"},
		{"an amount in words", base + "    floor: eight\n", "campaigns[0].floor", "without quotes"},
		{"infinity", base + "    floor: .inf\n", "campaigns[0].floor", "plain digits"},
		{"a share over one", base + "    payout: {share: 1.01}\n", "campaigns[0].payout.share", "from 0 to 1"},
		{"an empty secret", "admin:\n  password: ''\n", "admin.password", "is empty"},
		{"a secret that is a number", "admin:\n  password: 123456\n", "admin.password", "put it in quotes"},
		{"a secret that is a mapping", "admin:\n  password: {set: false}\n", "admin.password", "{set: true}"},
		{"a value that is a list", base + "    filters: [{field: source, in: [[1]]}]\n", "campaigns[0].filters[0].in[0]", "expected a value"},
	})
}

func TestInvalidVariables(t *testing.T) {
	checkProblems(t, []invalidDocument{
		{"a missing variable", "admin:\n  password: ${NOT_SET}\n", "admin.password", "no variable NOT_SET"},
		{"a missing variable among others", "admin:\n  password: a${RATE}b${NOT_SET}\n", "admin.password", "no variable NOT_SET"},
		{"an unclosed reference", "admin:\n  password: \"hunter2${RATE\"\n", "admin.password", "no closing brace"},
		{"an invalid name", "admin:\n  password: \"${hunter2 x}\"\n", "admin.password", "the text between ${ and } is not a variable's name (letters, digits and _, not beginning with a digit)"},
		{"an empty name", "admin:\n  password: \"${}\"\n", "admin.password", "the text between ${ and } is not a variable's name (letters, digits and _, not beginning with a digit)"},
		{"an empty value", "admin:\n  password: ${EMPTY}\n", "admin.password", "is empty"},
		{"a value that is not a number", "suppliers:\n  - {id: a, ping_rate: \"${LEAK}\"}\n", "suppliers[0].ping_rate", "whole number"},
		{"a value that is not a boolean", "sandbox: ${LEAK}\n", "sandbox", "true or false"},
		{"a value that is not a duration", "history: ${LEAK}\n", "history", "a duration"},
		{"a key that cannot be sent", "suppliers:\n  - {id: a, api_key: \"${LEAK}\"}\n", "suppliers[0].api_key", "cannot be sent in a header"},
	})
	got := compileProblems(t, strings.Replace(base, "{buyer: buy_a}", "{buyer: \"${ID}\"}", 1))
	if len(got) != 1 || strings.Contains(got.Error(), "hunter2") || !strings.Contains(got.Error(), "environment") {
		t.Errorf("an unknown buyer named by the environment: %v", got)
	}
	got = compileProblems(t, strings.Replace(base, "{buyer: buy_a}", "{buyer: buy_a, schedule: {open: [\"${ID}\"]}}", 1))
	if len(got) != 1 || strings.Contains(got.Error(), "hunter2") {
		t.Errorf("opening hours from the environment: %v", got)
	}
}

func TestInvalidYAML(t *testing.T) {
	deepFlow := "a: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\n"
	manyKeys := ""
	for i := range 300 {
		manyKeys += fmt.Sprintf("k%d: 1\n", i)
		if i == 255 {
			manyKeys += "over: 1 # here\n"
		}
	}
	checkProblems(t, []invalidDocument{
		{"an empty text", "", "", "empty"},
		{"only a comment", "# nothing here yet", "", "empty"},
		{"null", "null\n", "", "empty"},
		{"a list", "- a\n", "", "expected a mapping"},
		{"text", "hello\n", "", "expected a mapping"},
		{"an open bracket", "trusted_proxies: [\n", "", "YAML"},
		{"a tab", "admin:\n\tlisten: a:1\n", "", "YAML"},
		{"two documents", "listen: a:1\n---\n", "", "second YAML document"},
		{"two documents, the first one ended", "listen: a:1\n...\ntenant: b\n", "", "second YAML document"},
		{"an anchor", "admin: &x {}\n", "", "anchors"},
		{"an alias", "listen: a:1\nadmin: *x\n", "", "anchors"},
		{"a merge", "admin:\n  <<: {}\n", "", "merges"},
		{"a tag", "tenant: !!str 1\n", "", "tags"},
		{"a directive", "%YAML 1.2\n---\na: 1\n"[:10], "", "directives"},
		{"a complex key", "? a\n", "", "keys with ?"},
		{"a flow key without a value", "admin: {listen}\n", "", "without a value"},
		{"a flow key with an empty value", "admin: {listen: }\n", "", "without a value"},
		{"brackets nested too deeply", deepFlow, "", "deeper than 32"},
		{"dashes nested too deeply", strings.Repeat("- ", 40) + "x\n", "", "deeper than 32"},
		{"too many keys", manyKeys, "", "more than 256 keys"},
		{"invalid UTF-8", "tenant: \xff\n", "", "UTF-8"},
		{"reserved characters", "tenant: \uFDD0\n", "", "U+FDD0"},
	})
	for message, text := range map[string]string{
		"over 16 MB":            "tenant: " + strings.Repeat("x", syntax.MaxDocument) + "\n",
		"marks of punctuation":  "[" + strings.Repeat(",", syntax.MaxMarks) + "]",
		"deeper than 32 levels": `{"tenant":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "}",
	} {
		if got := compileProblems(t, text); len(got) == 0 || got[0].Line != 1 || !strings.Contains(got.Error(), message) {
			t.Errorf("problems %[2]v, want %[1]s", message, got)
		}
	}
}
