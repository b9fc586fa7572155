package event

import "testing"

func TestScopes(t *testing.T) {
	for scopes, want := range map[TokenScopes]string{
		0: "", ScopePing: "ping", ScopePost: "post", ScopeWebhook: "webhook",
		ScopeWebhook | ScopePing:             "ping webhook",
		ScopePing | ScopePost | ScopeWebhook: "ping post webhook",
		1 << 7:                               "",
	} {
		if got := scopes.String(); got != want {
			t.Errorf("scopes %b are %q, want %q", scopes, got, want)
		}
		var back TokenScopes
		for _, name := range scopes.Names() {
			scope, ok := ParseScope(name)
			if !ok || !scopes.ContainsAll(scope) {
				t.Errorf("%q is read as %b, %v", name, scope, ok)
			}
			back |= scope
		}
		if !scopes.ContainsAll(back) || back.String() != want {
			t.Errorf("%q comes back as %q", want, back)
		}
	}
	for _, name := range []string{"", "Ping", " ping", "ping post", "admin"} {
		if scope, ok := ParseScope(name); ok || scope != 0 {
			t.Errorf("%q is a scope: %b", name, scope)
		}
	}
}

func TestHas(t *testing.T) {
	both := ScopePing | ScopePost
	for others, want := range map[TokenScopes]bool{0: true, ScopePing: true, both: true, ScopeWebhook: false, both | ScopeWebhook: false} {
		if got := both.ContainsAll(others); got != want {
			t.Errorf("ping and post have %q: %v", others, got)
		}
	}
}

func TestCredentialKindsHaveNames(t *testing.T) {
	for kind, want := range map[CredentialKind]string{CredentialAPIKey: "api_key", CredentialOAuthClient: "oauth_client", CredentialBearer: "bearer", 0: "invalid", 4: "invalid"} {
		if got := kind.String(); got != want {
			t.Errorf("kind %d is called %q", kind, got)
		}
	}
}
