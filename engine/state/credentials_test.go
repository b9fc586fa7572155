package state

import (
	"bytes"
	"slices"
	"testing"

	"pingpost/engine/event"
)

// credentialEvents add one credential of each kind, and several of an OAuth client.
var credentialEvents = []*event.CredentialAddedOrRevoked{
	{Credential: event.CredentialAPIKey, Owner: event.ObjectSupplier, OwnerRef: 1, Hash: [32]byte{1}, Hint: "key", At: 1},
	{Credential: event.CredentialOAuthClient, Owner: event.ObjectSupplier, OwnerRef: 1, Hash: [32]byte{2}, Hint: "old", At: 2, Client: "acme", Scopes: event.ScopePing | event.ScopePost},
	{Credential: event.CredentialOAuthClient, Owner: event.ObjectSupplier, OwnerRef: 1, Hash: [32]byte{3}, Hint: "new", At: 3, Client: "acme", Scopes: event.ScopePing},
	{Credential: event.CredentialOAuthClient, Owner: event.ObjectSupplier, OwnerRef: 1, Hash: [32]byte{4}, Hint: "two", At: 4, Client: "acme2", Scopes: event.ScopePost},
	{Credential: event.CredentialOAuthClient, Owner: event.ObjectBuyer, OwnerRef: 1, Hash: [32]byte{5}, Hint: "blu", At: 5, Client: "blue", Scopes: event.ScopeWebhook},
	{Credential: event.CredentialBearer, Owner: event.ObjectSupplier, OwnerRef: 1, Hash: [32]byte{6}, Hint: "tok", At: 6, Scopes: event.ScopePing},
}

func stateWithCredentials(t *testing.T) *State {
	t.Helper()
	s := New()
	for i, ev := range credentialEvents {
		s.Apply(uint64(i+1), ev.At, ev)
	}
	return s
}

// restoreFromSnapshot returns the state that a snapshot of s restores.
func restoreFromSnapshot(t *testing.T, s *State) *State {
	t.Helper()
	var file bytes.Buffer
	if _, _, err := s.WriteSnapshot(&file, nil); err != nil {
		t.Fatal(err)
	}
	restored := New()
	if _, err := restored.LoadSnapshot(&file); err != nil {
		t.Fatal(err)
	}
	_, want := s.Hash()
	if _, got := restored.Hash(); got != want {
		t.Errorf("the restored state has hash %x, want %x", got, want)
	}
	return restored
}

func TestSnapshotKeepsCredentials(t *testing.T) {
	s := restoreFromSnapshot(t, stateWithCredentials(t))
	for _, e := range credentialEvents {
		want := Credential{
			Kind: e.Credential, Owner: e.Owner, Ref: e.OwnerRef, Client: e.Client, Scopes: e.Scopes,
			Hash: e.Hash, Hint: e.Hint, At: e.At,
		}
		got, ok := s.CredentialByHash(e.Hash)
		if want.LastUse = got.LastUse; !ok || got != want || got.LastUse == nil {
			t.Errorf("%+v, %v\nwant %+v", got, ok, want)
		}
	}
}

func TestCredentialsAreRememberedAfterRevocation(t *testing.T) {
	s := stateWithCredentials(t)
	for i, hash := range [][32]byte{{1}, {2}, {3}, {5}, {6}} {
		c, _ := s.CredentialByHash(hash)
		s.Apply(uint64(len(credentialEvents)+i+1), 9, &event.CredentialAddedOrRevoked{
			Credential: c.Kind, Owner: c.Owner, OwnerRef: c.Ref, Client: c.Client, Hash: hash, Revoked: true,
		})
		if _, ok := s.CredentialByHash(hash); ok {
			t.Errorf("found %q after its revocation", c.Hint)
		}
	}
	key, client, token := event.CredentialAPIKey, event.CredentialOAuthClient, event.CredentialBearer
	for _, s := range []*State{s, restoreFromSnapshot(t, s)} {
		for _, row := range []struct {
			name    string
			first   event.CredentialAddedOrRevoked
			existed bool
		}{
			{"another key of a supplier whose key is gone", event.CredentialAddedOrRevoked{Credential: key, Owner: event.ObjectSupplier, OwnerRef: 1, Hash: [32]byte{99}}, true},
			{"the key of another supplier", event.CredentialAddedOrRevoked{Credential: key, Owner: event.ObjectSupplier, OwnerRef: 2, Hash: [32]byte{99}}, false},
			{"another secret of a client that is revoked", event.CredentialAddedOrRevoked{Credential: client, Owner: event.ObjectSupplier, OwnerRef: 1, Client: "acme", Hash: [32]byte{99}}, true},
			{"a secret of another client", event.CredentialAddedOrRevoked{Credential: client, Owner: event.ObjectSupplier, OwnerRef: 1, Client: "acme3", Hash: [32]byte{99}}, false},
			{"a buyer's client of the same name", event.CredentialAddedOrRevoked{Credential: client, Owner: event.ObjectBuyer, OwnerRef: 1, Client: "acme", Hash: [32]byte{99}}, false},
			{"a token that is revoked", event.CredentialAddedOrRevoked{Credential: token, Owner: event.ObjectSupplier, OwnerRef: 1, Hash: [32]byte{6}}, true},
			{"another token", event.CredentialAddedOrRevoked{Credential: token, Owner: event.ObjectSupplier, OwnerRef: 1, Hash: [32]byte{99}}, false},
		} {
			if got := s.HasCredentialEverExisted(&row.first); got != row.existed {
				t.Errorf("%s: HasCredentialEverExisted is %v", row.name, got)
			}
		}
	}
}

func TestCredentialsAndOwnersOfClients(t *testing.T) {
	s := stateWithCredentials(t)
	var hints []string
	for _, c := range s.CredentialsOf(event.CredentialOAuthClient, event.ObjectSupplier, 1) {
		hints = append(hints, c.Hint)
	}
	if !slices.Equal(hints, []string{"old", "new", "two"}) {
		t.Errorf("secrets of supplier 1: %q, want them oldest first", hints)
	}
	for client, want := range map[string]event.ConfigObjectKind{"acme": event.ObjectSupplier, "blue": event.ObjectBuyer, "": 0, "none": 0} {
		if owner, ref, ok := s.OwnerOfOAuthClient(client); owner != want || ok != (want != 0) || ok && ref != 1 {
			t.Errorf("client %q has owner %d %d, %v", client, owner, ref, ok)
		}
	}
}
