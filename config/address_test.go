package config

import (
	"strings"
	"testing"

	"pingpost/config/schema"
)

// TestDocumentWithSecretPlaceholderIsRejected: a document must not contain the placeholder of a
// sealed secret in any text.
func TestDocumentWithSecretPlaceholderIsRejected(t *testing.T) {
	const placeholder = `\u001arbuyer/other/bearer\u001a`
	for name, text := range map[string]string{
		"endpoint":         `{"buyers":[{"id":"a","endpoint":"https://a.example/` + placeholder + `"}]}`,
		"ping_url":         `{"buyers":[{"id":"a","ping_url":"https://a.example/?k=` + placeholder + `","post_url":"https://a.example"}]}`,
		"post_url":         `{"buyers":[{"id":"a","post_url":"https://a.example/` + placeholder + `"}]}`,
		"test_endpoint":    `{"buyers":[{"id":"a","test_endpoint":"https://a.example/` + placeholder + `"}]}`,
		"test_ping_url":    `{"buyers":[{"id":"a","test_ping_url":"https://a.example/` + placeholder + `","test_post_url":"https://a.example"}]}`,
		"test_post_url":    `{"buyers":[{"id":"a","test_post_url":"https://a.example/` + placeholder + `"}]}`,
		"token_url":        `{"buyers":[{"id":"a","endpoint":"https://a.example","auth":{"oauth":{"token_url":"https://a.example/` + placeholder + `","client_id":"c","client_secret":"s"}}}]}`,
		"webhook.url":      `{"suppliers":[{"id":"a","webhook":{"url":"https://a.example/` + placeholder + `","secret":"whsec_Y2FuYXJ5LXNlY3JldC1vZi1hY21lLTEyMzQ="}}]}`,
		"traces":           `{"traces":{"endpoint":"https://a.example/` + placeholder + `"}}`,
		"a header":         `{"buyers":[{"id":"a","post_url":"https://a.example","adapter":{"post":{"format":"json","body":"{}","headers":[{"name":"X","value":"` + placeholder + `"}],"answer":{"accepted":"a","yes":["b"]}}}}]}`,
		"a body":           `{"buyers":[{"id":"a","post_url":"https://a.example","adapter":{"post":{"format":"json","body":"{\"a\":\"` + placeholder + `\"}","answer":{"accepted":"a","yes":["b"]}}}}]}`,
		"a name":           `{"buyers":[{"id":"a","name":"` + placeholder + `"}]}`,
		"an unset address": `{"buyers":[{"id":"a","endpoint":"https://a.example/${UNSET}/` + placeholder + `"}]}`,
		"YAML":             `buyers: [{id: a, endpoint: "https://a.example/\x1arbuyer/other/bearer\x1a"}]`,
		"a variable":       `{"buyers":[{"id":"a","name":"${MARK}"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			source, err := ParseSentDocument("x", []byte(text), map[string]string{"MARK": "\x1arbuyer/other/bearer\x1a"})
			if err == nil {
				_, err = source.Compile()
			}
			if err == nil || !strings.Contains(err.Error(), "U+001A") {
				t.Errorf("error %v, want one about U+001A", err)
			}
		})
	}
}

// TestControlCharactersInAddressesAreRejected includes addresses with unset variables.
func TestControlCharactersInAddressesAreRejected(t *testing.T) {
	for _, address := range []string{`https://a.example/\u0001`, `https://a.example/\n${UNSET}`, `https://a.example/${UNSET}\u007f`} {
		source, err := ParseSentDocument("x", []byte(`{"buyers":[{"id":"a","endpoint":"`+address+`"}]}`), nil)
		if err == nil {
			_, err = source.Compile()
		}
		if err == nil || !strings.Contains(err.Error(), "buyers[0].endpoint: ") {
			t.Errorf("%s: error %v", address, err)
		}
	}
}

func TestDescribeSecretMistake(t *testing.T) {
	const webhookSecret = "whsec_Y2FuYXJ5LXNlY3JldC1vZi1hY21lLTEyMzQ="
	for _, row := range []struct {
		name, value string
		valid       bool
	}{
		{"buyer/a/secret/k", "a b", true},
		{"buyer/a/secret/k", "a\x1ab", false},
		{"buyer/a/secret/k", "a\nb", false},
		{"buyer/a/secret/k", "é", false},
		{"buyer/a/secret/k", strings.Repeat("x", schema.MaxSecret), true},
		{"buyer/a/secret/k", strings.Repeat("x", schema.MaxSecret+1), false},
		{"buyer/a/oauth", "a b", true},
		{"buyer/a/oauth", "a\x1ab", false},
		{"buyer/a/bearer", "ab", true},
		{"buyer/a/bearer", "a b", false},
		{"buyer/a/bearer", "a\x00", false},
		{"buyer/a/api_key", "ab", true},
		{"buyer/a/api_key", "a b", false},
		{"buyer/a/secret/bearer", "a b", true},
		{"supplier/a/webhook", webhookSecret, true},
		{"supplier/a/webhook", "ab", false},
	} {
		if problem := DescribeSecretMistake(row.name, row.value); (problem == "") != row.valid {
			t.Errorf("%s %q: problem %q, want valid: %t", row.name, row.value, problem, row.valid)
		}
	}
}
