package config

import (
	"slices"
	"strings"
	"testing"

	"pingpost/config/canonical"
)

func TestMistakesInTLS(t *testing.T) {
	checkMistakes(t, []mistake{
		{"no key", "tls: {cert: a.pem}\n", "tls.key", "is missing"},
		{"no cert", "tls: {key: a.pem}\n", "tls.cert", "is missing"},
		{"one at the admin's", "admin: {tls: {cert: a.pem}}\n", "admin.tls.key", "is missing"},
		{"a file's text", "tls: {cert: a.pem, key: \"-----BEGIN PRIVATE KEY----- hunter2\"}\n", "tls.key", "write the file's path"},
		{"another key", "tls: {cert: a.pem, key: b.pem, password: x}\n", "tls.password", "unknown key"},
		{"no documents", "limits: {documents: 0}\n", "limits.documents", "1 to 1000000"},
		{"no guesses", "limits: {auth_failures: 0}\n", "limits.auth_failures", "1 to 1000000"},
	})
}

// TestTLSPaths: they are relative to the document's file, and each address has its own.
func TestTLSPaths(t *testing.T) {
	source, err := Parse("/etc/pingpost/exchange.yaml", []byte("tls: {cert: tls/a.pem, key: /keys/a.pem}\nadmin: {tls: {cert: b.pem, key: ../b.key}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	built, err := source.Compile()
	if err != nil {
		t.Fatal(err)
	}
	if s := built.Settings; s.TLS != (TLSSettings{"/etc/pingpost/tls/a.pem", "/keys/a.pem"}) || s.AdminTLS != (TLSSettings{"/etc/pingpost/b.pem", "/etc/b.key"}) {
		t.Errorf("%+v %+v", s.TLS, s.AdminTLS)
	}
	if s := compiled(t, base, nil).Settings; s.TLS.IsSet() || s.AdminTLS.IsSet() {
		t.Error("there is a certificate where none was given")
	}
	for _, change := range canonical.Diff(compiled(t, base, nil).Canonical, built.Canonical) {
		if strings.Contains(change.Path, "tls") && !change.NeedsRestart() {
			t.Errorf("%s takes effect at once", change)
		}
	}
}

// TestWarnings: what is allowed and most likely not meant is told with its place, and
// nothing of a secret.
func TestWarnings(t *testing.T) {
	for _, row := range []struct {
		what, text string
		at         []string
	}{
		{"what is meant", "suppliers:\n  - {id: a, oauth_clients: [{client_id: x, client_secret: hunter2, scopes: [ping, post]}]}\n", nil},
		{"the defaults", "suppliers:\n  - {id: a, oauth_clients: [{client_id: x, client_secret: hunter2}]}\nbuyers:\n  - {id: b, oauth_clients: [{client_id: y, client_secret: hunter3}]}\n", nil},
		{
			"a seller that reports", "suppliers:\n  - {id: a, oauth_clients: [{client_id: x, client_secret: hunter2, scopes: [webhook, ping]}]}\n",
			[]string{"suppliers[0].oauth_clients[0].scopes[0]"},
		},
		{
			"a buyer that pings and posts", "buyers:\n  - {id: a, oauth_clients: [{client_id: x, client_secret: hunter2, scopes: [ping, webhook, post]}]}\n",
			[]string{"buyers[0].oauth_clients[0].scopes[0]", "buyers[0].oauth_clients[0].scopes[2]"},
		},
		{"a short secret", "suppliers:\n  - {id: a, webhook: {url: \"https://a.example\", secret: whsec_aHVu}}\n", []string{"suppliers[0].webhook.secret"}},
		{"a long one", "suppliers:\n  - {id: a, webhook: {url: \"https://a.example\", secret: whsec_aHVudGVyMmh1bnRlcjJodW50ZXIyaHVudGVy}}\n", nil},
		{"one that is known already", "suppliers:\n  - {id: a, webhook: {url: \"https://a.example\", secret: {set: true}}}\n", nil},
	} {
		warnings := compiled(t, row.text, nil).Warnings
		var at []string
		for _, w := range warnings {
			at = append(at, w.Path)
			if w.Line == 0 || strings.Contains(w.Message, "hun") || w.Message == "" {
				t.Errorf("%s: %+v", row.what, w)
			}
		}
		if !slices.Equal(at, row.at) {
			t.Errorf("%s: warnings at %v, want %v", row.what, at, row.at)
		}
		if text := warnings.FormatWarnings(); strings.Count(text, "warning: ") != len(row.at) || strings.Contains(text, "hunter") {
			t.Errorf("%s: %s", row.what, text)
		}
	}
}
