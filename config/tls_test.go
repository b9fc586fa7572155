package config

import (
	"slices"
	"strings"
	"testing"

	"pingpost/config/canonical"
)

func TestInvalidTLS(t *testing.T) {
	checkProblems(t, []invalidDocument{
		{"no key", "tls: {cert: a.pem}\n", "tls.key", "is missing"},
		{"no cert", "tls: {key: a.pem}\n", "tls.cert", "is missing"},
		{"no admin key", "admin: {tls: {cert: a.pem}}\n", "admin.tls.key", "is missing"},
		{"a key instead of its path", "tls: {cert: a.pem, key: \"-----BEGIN PRIVATE KEY----- hunter2\"}\n", "tls.key", "write the file's path"},
		{"unknown key", "tls: {cert: a.pem, key: b.pem, password: x}\n", "tls.password", "unknown key"},
		{"no document requests", "limits: {documents: 0}\n", "limits.documents", "1 to 1000000"},
		{"no authentication failures", "limits: {auth_failures: 0}\n", "limits.auth_failures", "1 to 1000000"},
	})
}

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
	if s := compileText(t, base, nil).Settings; s.TLS.IsSet() || s.AdminTLS.IsSet() {
		t.Error("a document without tls has a certificate")
	}
	for _, change := range canonical.Diff(compileText(t, base, nil).Canonical, built.Canonical) {
		if strings.Contains(change.Path, "tls") && !change.NeedsRestart() {
			t.Errorf("%s does not need a restart", change)
		}
	}
}

// TestWarnings: probable mistakes cause warnings with positions and without secrets.
func TestWarnings(t *testing.T) {
	for _, row := range []struct {
		name, text string
		paths      []string
	}{
		{"usual scopes", "suppliers:\n  - {id: a, oauth_clients: [{client_id: x, client_secret: hunter2, scopes: [ping, post]}]}\n", nil},
		{"the defaults", "suppliers:\n  - {id: a, oauth_clients: [{client_id: x, client_secret: hunter2}]}\nbuyers:\n  - {id: b, oauth_clients: [{client_id: y, client_secret: hunter3}]}\n", nil},
		{
			"a supplier with scope webhook", "suppliers:\n  - {id: a, oauth_clients: [{client_id: x, client_secret: hunter2, scopes: [webhook, ping]}]}\n",
			[]string{"suppliers[0].oauth_clients[0].scopes[0]"},
		},
		{
			"a buyer with scopes ping and post", "buyers:\n  - {id: a, oauth_clients: [{client_id: x, client_secret: hunter2, scopes: [ping, webhook, post]}]}\n",
			[]string{"buyers[0].oauth_clients[0].scopes[0]", "buyers[0].oauth_clients[0].scopes[2]"},
		},
		{"a short webhook secret", "suppliers:\n  - {id: a, webhook: {url: \"https://a.example\", secret: whsec_aHVu}}\n", []string{"suppliers[0].webhook.secret"}},
		{"a long webhook secret", "suppliers:\n  - {id: a, webhook: {url: \"https://a.example\", secret: whsec_aHVudGVyMmh1bnRlcjJodW50ZXIyaHVudGVy}}\n", nil},
		{"a secret set before", "suppliers:\n  - {id: a, webhook: {url: \"https://a.example\", secret: {set: true}}}\n", nil},
	} {
		warnings := compileText(t, row.text, nil).Warnings
		var paths []string
		for _, w := range warnings {
			paths = append(paths, w.Path)
			if w.Line == 0 || strings.Contains(w.Message, "hun") || w.Message == "" {
				t.Errorf("%s: %+v", row.name, w)
			}
		}
		if !slices.Equal(paths, row.paths) {
			t.Errorf("%s: warnings at %v, want %v", row.name, paths, row.paths)
		}
		if text := warnings.FormatAsWarnings(); strings.Count(text, "warning: ") != len(row.paths) || strings.Contains(text, "hunter") {
			t.Errorf("%s: %s", row.name, text)
		}
	}
}
