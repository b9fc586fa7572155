package config

import (
	"strings"
	"testing"

	"pingpost/config/schema"
)

// TestPlaceholdersOfAnAuthorAreRefused: a document cannot write the form that stands for
// a sealed secret, in no address and in no other text.
func TestPlaceholdersOfAnAuthorAreRefused(t *testing.T) {
	const mark = `\u001arbuyer/other/bearer\u001a`
	for name, text := range map[string]string{
		"endpoint":         `{"buyers":[{"id":"a","endpoint":"https://a.example/` + mark + `"}]}`,
		"ping_url":         `{"buyers":[{"id":"a","ping_url":"https://a.example/?k=` + mark + `","post_url":"https://a.example"}]}`,
		"post_url":         `{"buyers":[{"id":"a","post_url":"https://a.example/` + mark + `"}]}`,
		"test_endpoint":    `{"buyers":[{"id":"a","test_endpoint":"https://a.example/` + mark + `"}]}`,
		"test_ping_url":    `{"buyers":[{"id":"a","test_ping_url":"https://a.example/` + mark + `","test_post_url":"https://a.example"}]}`,
		"test_post_url":    `{"buyers":[{"id":"a","test_post_url":"https://a.example/` + mark + `"}]}`,
		"token_url":        `{"buyers":[{"id":"a","endpoint":"https://a.example","auth":{"oauth":{"token_url":"https://a.example/` + mark + `","client_id":"c","client_secret":"s"}}}]}`,
		"webhook.url":      `{"suppliers":[{"id":"a","webhook":{"url":"https://a.example/` + mark + `","secret":"whsec_Y2FuYXJ5LXNlY3JldC1vZi1hY21lLTEyMzQ="}}]}`,
		"traces":           `{"traces":{"endpoint":"https://a.example/` + mark + `"}}`,
		"a header":         `{"buyers":[{"id":"a","post_url":"https://a.example","adapter":{"post":{"format":"json","body":"{}","headers":[{"name":"X","value":"` + mark + `"}],"answer":{"accepted":"a","yes":["b"]}}}}]}`,
		"a body":           `{"buyers":[{"id":"a","post_url":"https://a.example","adapter":{"post":{"format":"json","body":"{\"a\":\"` + mark + `\"}","answer":{"accepted":"a","yes":["b"]}}}}]}`,
		"a name":           `{"buyers":[{"id":"a","name":"` + mark + `"}]}`,
		"an unset address": `{"buyers":[{"id":"a","endpoint":"https://a.example/${UNSET}/` + mark + `"}]}`,
		"YAML":             `buyers: [{id: a, endpoint: "https://a.example/\x1arbuyer/other/bearer\x1a"}]`,
		"a variable":       `{"buyers":[{"id":"a","name":"${MARK}"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			source, err := ParseSentDocument("x", []byte(text), map[string]string{"MARK": "\x1arbuyer/other/bearer\x1a"})
			if err == nil {
				_, err = source.Compile()
			}
			if err == nil || !strings.Contains(err.Error(), "U+001A") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestControlCharactersInAddressesAreRefused also where a variable has no value here.
func TestControlCharactersInAddressesAreRefused(t *testing.T) {
	for _, address := range []string{`https://a.example/\u0001`, `https://a.example/\n${UNSET}`, `https://a.example/${UNSET}\u007f`} {
		source, err := ParseSentDocument("x", []byte(`{"buyers":[{"id":"a","endpoint":"`+address+`"}]}`), nil)
		if err == nil {
			_, err = source.Compile()
		}
		if err == nil || !strings.Contains(err.Error(), "buyers[0].endpoint: ") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestSecretsThatFitTheirPlaces has the rule of a document for each kind of secret.
func TestSecretsThatFitTheirPlaces(t *testing.T) {
	const hook = "whsec_Y2FuYXJ5LXNlY3JldC1vZi1hY21lLTEyMzQ="
	for _, row := range []struct {
		name, value string
		fits        bool
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
		{"supplier/a/webhook", hook, true},
		{"supplier/a/webhook", "ab", false},
	} {
		if why := DescribeSecretMistake(row.name, row.value); (why == "") != row.fits {
			t.Errorf("%s %q: %q", row.name, row.value, why)
		}
	}
}
