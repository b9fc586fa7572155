package config

import (
	"strings"
	"testing"

	"pingpost/config/canonical"
	"pingpost/engine/market/escape"
)

// secretsDocument has a secret in each place that allows one.
const secretsDocument = `{"buyers":[{"id":"old","ping_url":"https://a.example/{{secret \"key\"}}/ping?k=${TOK}","post_url":"${BASE}/post",
"secrets":[{"name":"key","value":"${KEY}"}],
"adapter":{"ping":{"format":"form","body":"k={{secret \"key\"}}","headers":[{"name":"X-Key","value":"k={{secret \"key\"}}"}],"answer":{"price":"p"}}}}]}`

var secretsEnv = map[string]string{"TOK": "value-tok", "BASE": "https://b.example/value-base", "KEY": "value-key"}

func TestBuyerSecrets(t *testing.T) {
	built := compileText(t, secretsDocument, secretsEnv)
	values := map[string]string{}
	for _, secret := range built.Initial.Secrets {
		values[secret.Name] = secret.Value.Reveal()
		if secret.Follows != IsAddressVariable(secret.Name) {
			t.Errorf("%s: Follows is %t", secret.Name, secret.Follows)
		}
	}
	if got := built.OutboundSecretNamesOf(canonical.EntryRef{Kind: canonical.Buyers, ID: "old"}); len(got) != 1 || got[0] != "buyer/old/secret/key" {
		t.Errorf("outbound secrets are %q", got)
	}
	buyer := built.Catalog.Buyers["old"]
	secrets := func(name string) (string, bool) { value, ok := values[name]; return value, ok }
	for text, want := range map[string]string{
		buyer.Ping.URL: "https://a.example/value-key/ping?k=value-tok", buyer.Post.URL: "https://b.example/value-base/post",
		buyer.Ping.AdapterProtocol.Headers: "X-Key: k=value-key\n",
	} {
		if got, ok := escape.AppendWithSecretsInserted(nil, []byte(text), secrets); !ok || string(got) != want || strings.Contains(text, "value-") {
			t.Errorf("%q with inserted secrets is %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{string(built.Canonical), string(built.ExportYAML())} {
		if strings.Contains(text, "value-") || !strings.Contains(text, "?k=${TOK}") || !strings.Contains(text, "${BASE}/post") {
			t.Errorf("variables are missing or values exported: %s", text)
		}
	}
}

// An id may be the word "variable", which is also a part of the names of address variables.
func TestSecretsOfBuyerNamedVariable(t *testing.T) {
	built := compileText(t, strings.Replace(secretsDocument, `"id":"old"`, `"id":"variable"`, 1), secretsEnv)
	got := built.OutboundSecretNamesOf(canonical.EntryRef{Kind: canonical.Buyers, ID: "variable"})
	if len(got) != 1 || got[0] != "buyer/variable/secret/key" {
		t.Errorf("outbound secrets are %q", got)
	}
	for name, want := range map[string]bool{
		"buyer/variable/bearer": false, "supplier/variable/webhook": false, "buyer/variable/secret/variable": false,
		"buyer/variable/variable/TOK": true, "supplier/old/variable/TOK": true,
	} {
		if IsAddressVariable(name) != want {
			t.Errorf("%s: is an address variable: %t, want %t", name, !want, want)
		}
	}
}

func TestInvalidSecretReferences(t *testing.T) {
	for _, row := range []struct{ old, replacement, want string }{
		{`{{secret \"key\"}}/ping`, `{{secret \"kex\"}}/ping`, `buyers[0].ping_url: there is no secret "kex"`},
		{`value":"k={{secret \"key\"}}`, `value":"k={{secret \"kex\"}}`, `headers[0].value: there is no secret "kex"`},
		{`body":"k={{secret \"key\"}}`, `body":"k={{secret \"kex\"}}`, `ping.body: line 1: there is no secret kex`},
		{`{{secret \"key\"}}/ping`, `{{secret \"key\" | upper}}/ping`, `buyers[0].ping_url: uses secret in another form`},
		{`https://a.example/{{secret \"key\"}}`, `https://{{secret \"key\"}}.example`, `buyers[0].ping_url: has {{secret "…"}} in its host`},
		{`"name":"key"`, `"name":"a/b"`, `secrets[0].name: is not an id`},
		{`"value":"${KEY}"`, `"value":"a\nb"`, `secrets[0].value: is not one line`},
		{`,"value":"${KEY}"`, ``, `secrets[0].value: is missing`},
		{`{"name":"key","value":"${KEY}"}`, `{"name":"key","value":"x"},{"name":"key","value":"y"}`, `secrets[1].name: is the same as buyers[0].secrets[0].name`},
		{`?k=${TOK}`, `?k=${NONE}`, `ping_url: the environment has no variable NONE`},
	} {
		text := strings.Replace(secretsDocument, row.old, row.replacement, 1)
		source, err := Parse("x", []byte(text), lookup(secretsEnv))
		if err == nil {
			_, err = source.Compile()
		}
		if err == nil || strings.Count(err.Error(), "ping_url: ") > 1 || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "value-") {
			t.Errorf("%s: %v, want %s", row.replacement, err, row.want)
		}
	}
}

func TestSentDocumentUsesSentVariablesOnly(t *testing.T) {
	built := mustCompile(t)(ParseSentDocument("sent", []byte(secretsDocument), map[string]string{"TOK": "value-tok"}))
	for _, secret := range built.Initial.Secrets {
		if value := secret.Value.Reveal(); IsAddressVariable(secret.Name) && (!strings.HasSuffix(secret.Name, "/TOK") || value != "value-tok") {
			t.Errorf("secret %s is %s", secret.Name, value)
		}
	}
	if len(built.Unset) != 2 || built.Unset[0].Secret != "buyer/old/secret/key" || built.Unset[1].Secret != "buyer/old/variable/BASE" {
		t.Errorf("%+v", built.Unset)
	}
}

// TestReservedCharactersAreRejected: a document, variable or escape must not contain the
// characters of address variables.
func TestReservedCharactersAreRejected(t *testing.T) {
	for name, text := range map[string]string{
		"an escape":  `{"tenant":"$\uFDD0KEY\uFDD1"}`,
		"a variable": `{"tenant":"${BAD}"}`,
		"an address": `{"buyers":[{"id":"a","endpoint":"https://a.example/$\uFDD0KEY\uFDD1"}]}`,
	} {
		_, err := Parse("x", []byte(text), lookup(map[string]string{"BAD": "$\uFDD0KEY\uFDD1", "KEY": "value-key"}))
		if err == nil || !strings.Contains(err.Error(), "U+FDD0") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRedactNamedSecrets(t *testing.T) {
	got := string(canonical.RedactSecretsInJSON([]byte(`{"secrets":[{"name":"key","value":"value-key"},{"name":"b","value":{"set":true}}],"adapter":{"headers":[{"value":"x"}]}}`)))
	if strings.Contains(got, "value-key") || strings.Count(got, `{"set":true}`) != 2 || !strings.Contains(got, `"value":"x"`) {
		t.Error(got)
	}
}
