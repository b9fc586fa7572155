package event

import "testing"

func TestScopeNames(t *testing.T) {
	for scopes, want := range map[OAuthScopes]string{
		0: "", ScopePing: "ping", ScopePost: "post", ScopeWebhook: "webhook",
		ScopeWebhook | ScopePing:             "ping webhook",
		ScopePing | ScopePost | ScopeWebhook: "ping post webhook",
		1 << 7:                               "",
	} {
		if got := scopes.String(); got != want {
			t.Errorf("scopes %b are %q, want %q", scopes, got, want)
		}
		var decoded OAuthScopes
		for _, name := range scopes.Names() {
			scope, ok := ParseOAuthScope(name)
			if !ok || !scopes.ContainsAll(scope) {
				t.Errorf("%q is parsed as %b, %v", name, scope, ok)
			}
			decoded |= scope
		}
		if !scopes.ContainsAll(decoded) || decoded.String() != want {
			t.Errorf("the names of %q are parsed as %q", want, decoded)
		}
	}
	for _, name := range []string{"", "Ping", " ping", "ping post", "admin"} {
		if scope, ok := ParseOAuthScope(name); ok || scope != 0 {
			t.Errorf("%q is parsed as scope %b, want an error", name, scope)
		}
	}
}

func TestScopesContainAll(t *testing.T) {
	both := ScopePing | ScopePost
	for others, want := range map[OAuthScopes]bool{0: true, ScopePing: true, both: true, ScopeWebhook: false, both | ScopeWebhook: false} {
		if got := both.ContainsAll(others); got != want {
			t.Errorf("ping and post contain %q: %v", others, got)
		}
	}
}

func TestCredentialKindNames(t *testing.T) {
	for kind, want := range map[SupplierOrBuyerCredentialKind]string{CredentialAPIKey: "api_key", CredentialOAuthClient: "oauth_client", CredentialBearer: "bearer", 0: "invalid", 4: "invalid"} {
		if got := kind.String(); got != want {
			t.Errorf("kind %d has the name %q", kind, got)
		}
	}
}
