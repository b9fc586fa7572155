package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/internal/must"
)

// newClientSecret returns a client secret whose hint is the number.
func newClientSecret(owner event.ConfigObjectKind, id, client string, number byte) *engine.Credential {
	return &engine.Credential{
		Kind: event.CredentialOAuthClient, Owner: owner, ID: id, Client: client,
		Scopes: event.ScopePing, Hash: [32]byte{number}, Hint: fmt.Sprint(number),
	}
}

// liveCredentials returns the owner's credentials as "client/hint", oldest first.
func (x *testExchange) liveCredentials(kind event.SupplierOrBuyerCredentialKind, owner event.ConfigObjectKind, id string) (hints string) {
	for _, c := range x.state.CredentialsOf(kind, owner, x.state.RefOf(owner, id)) {
		hints += c.Client + "/" + c.Hint + " "
	}
	return hints
}

func TestClientHasTwoLiveSecrets(t *testing.T) {
	runWithExchange(t, "rotation", marketSpec{buyers: []buyer{{id: "red"}}, suppliers: []string{"zeta"}}, func(t *testing.T, x *testExchange) {
		add := func(c *engine.Credential) {
			t.Helper()
			time.Sleep(time.Second)
			must.Succeed(t, x.engine.AsOperator("").AddCredential(c))
		}
		supplier, client := event.ObjectSupplier, event.CredentialOAuthClient
		want := func(kind event.SupplierOrBuyerCredentialKind, id, hints string) {
			t.Helper()
			expectEqual(t, x.liveCredentials(kind, supplier, id), hints, id, " has")
		}
		add(newClientSecret(supplier, "acme", "one", 1))
		add(newClientSecret(supplier, "acme", "one", 2))
		add(newClientSecret(supplier, "acme", "two", 3))
		add(newClientSecret(supplier, "zeta", "zeta", 4))
		want(client, "acme", "one/1 one/2 two/3 ")
		fifth := newClientSecret(supplier, "acme", "one", 5)
		fifth.Replaces = "1"
		add(fifth)
		want(client, "acme", "one/2 two/3 one/5 ")
		for n := range byte(4) {
			token := newClientSecret(supplier, "acme", "", 10+n)
			token.Kind = event.CredentialBearer
			add(token)
			key := newClientSecret(supplier, "acme", "", 20+n)
			key.Kind = event.CredentialAPIKey
			if n >= 2 {
				key.Replaces = fmt.Sprint(20 + n - 2)
			}
			add(key)
		}
		want(event.CredentialBearer, "acme", "/10 /11 /12 /13 ")
		want(event.CredentialAPIKey, "acme", "/22 /23 ")
		want(client, "zeta", "zeta/4 ")

		for _, c := range x.state.CredentialsOf(client, supplier, x.state.RefOf(supplier, "acme")) {
			for range 2 { // the repeat changes nothing
				must.Succeed(t, x.engine.AsOperator("").RevokeCredential(&c))
			}
		}
		x.crashAndRestart()
		want(client, "acme", "")
		want(client, "zeta", "zeta/4 ")
		want(event.CredentialAPIKey, "acme", "/22 /23 ")
	})
}

// A hint that no active secret has must not look like a replacement: the caller would believe that the
// old secret is revoked.
func TestReplacedSecretMustBeActive(t *testing.T) {
	runWithExchange(t, "replaced", marketSpec{}, func(t *testing.T, x *testExchange) {
		for n, row := range []struct{ replaces, live string }{
			{"9", ""}, {"", "one/1 "}, {"9", "one/1 "}, {"1", "one/3 "}, {"1", "one/3 "}, {"", "one/3 one/5 "},
		} {
			c := newClientSecret(event.ObjectSupplier, "acme", "one", byte(n))
			c.Replaces = row.replaces
			time.Sleep(time.Second)
			before := x.liveCredentials(event.CredentialOAuthClient, event.ObjectSupplier, "acme")
			err := x.engine.AsOperator("").AddCredential(c)
			var unknown *engine.UnknownReplacedHintError
			if isRejected := before == row.live; isRejected != errors.As(err, &unknown) || isRejected != (err != nil) {
				t.Errorf("secret %d replaces %q: %v", n, row.replaces, err)
			}
			expectEqual(t, x.liveCredentials(event.CredentialOAuthClient, event.ObjectSupplier, "acme"), row.live, "after secret ", n)
		}
	})
}

func TestClientHasOneOwner(t *testing.T) {
	runWithExchange(t, "owners", marketSpec{buyers: []buyer{{id: "acme"}}, suppliers: []string{"zeta"}}, func(t *testing.T, x *testExchange) {
		for _, row := range []struct {
			name string
			c    *engine.Credential
			want error
		}{
			{"an unknown owner's", newClientSecret(event.ObjectSupplier, "none", "one", 1), engine.ErrNotFound},
			{"a supplier's", newClientSecret(event.ObjectSupplier, "acme", "one", 1), nil},
			{"once more", newClientSecret(event.ObjectSupplier, "acme", "one", 2), nil},
			{"another supplier's", newClientSecret(event.ObjectSupplier, "zeta", "one", 3), engine.ErrConflict},
			{"a buyer's of the same id and number", newClientSecret(event.ObjectBuyer, "acme", "one", 3), engine.ErrConflict},
			{"a buyer's of another name", newClientSecret(event.ObjectBuyer, "acme", "two", 3), nil},
		} {
			if err := x.engine.AsOperator("").AddCredential(row.c); !errors.Is(err, row.want) {
				t.Errorf("%s: %v, want %v", row.name, err, row.want)
			}
		}
	})
}

// A configuration sets the first credential once for each owner, client and token.
func TestInitialCredentialsAreSetOnce(t *testing.T) {
	runInVirtualTime(t, "firsts", func(t *testing.T) {
		r := marketSpec{buyers: []buyer{{id: "red"}}}
		x := newExchange(t, r)
		give := func(firsts ...engine.Credential) {
			t.Helper()
			c := x.configuration(r)
			c.Initial.Credentials = firsts
			must.Succeed(t, x.engine.Configure(c))
		}
		first := *newClientSecret(event.ObjectSupplier, "acme", "one", 1)
		give(first, *newClientSecret(event.ObjectBuyer, "red", "red", 2))
		changed := first
		changed.Hash, changed.Hint = [32]byte{9}, "changed"
		give(changed, *newClientSecret(event.ObjectSupplier, "acme", "two", 3))
		want := func(hints string) {
			t.Helper()
			expectEqual(t, x.liveCredentials(event.CredentialOAuthClient, event.ObjectSupplier, "acme"), hints, "acme has")
		}
		want("one/1 two/3 ")
		for _, c := range x.state.CredentialsOf(event.CredentialOAuthClient, event.ObjectSupplier, x.state.RefOf(event.ObjectSupplier, "acme")) {
			must.Succeed(t, x.engine.AsOperator("").RevokeCredential(&c))
		}
		give(first, changed)
		want("")
		expectEqual(t, x.liveCredentials(event.CredentialOAuthClient, event.ObjectBuyer, "red"), "red/2 ", "red has")
	})
}

func TestCredentialOfAnotherOwnerIsRejected(t *testing.T) {
	runWithExchange(t, "hands", marketSpec{buyers: []buyer{{id: "red"}}, suppliers: []string{"zeta"}}, func(t *testing.T, x *testExchange) {
		must.Succeed(t, x.engine.AsOperator("").AddCredential(newClientSecret(event.ObjectSupplier, "acme", "one", 1)))
		for _, thief := range []*engine.Credential{
			newClientSecret(event.ObjectSupplier, "zeta", "two", 1),
			newClientSecret(event.ObjectBuyer, "red", "two", 1),
		} {
			if err := x.engine.AsOperator("").AddCredential(thief); !errors.Is(err, engine.ErrConflict) {
				t.Errorf("given to %s: %v", thief.ID, err)
			}
			c := x.configuration(x.market)
			c.Initial.Credentials = []engine.Credential{*thief}
			if err := x.engine.Configure(c); !errors.Is(err, engine.ErrConflict) {
				t.Errorf("configured for %s: %v", thief.ID, err)
			}
		}
		newcomer := x.configuration(marketSpec{buyers: []buyer{{id: "red"}}, suppliers: []string{"zeta", "late"}})
		newcomer.Initial.Credentials = []engine.Credential{*newClientSecret(event.ObjectSupplier, "late", "late", 1)}
		expectError(t, x.engine.Configure(newcomer), engine.ErrConflict, "configured for a new supplier")
		expectEqual(t, x.liveCredentials(event.CredentialOAuthClient, event.ObjectSupplier, "acme"), "one/1 ", "acme has")
		expectEqual(t, x.state.RefOf(event.ObjectSupplier, "late"), 0, "number of a supplier of the rejected configuration")
	})
}
