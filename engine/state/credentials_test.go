package state

import (
	"bytes"
	"slices"
	"testing"

	"pingpost/engine/event"
)

// doors are facts about everything that opens the exchange.
var doors = []*event.CredentialAddedOrRevoked{
	{Credential: event.CredentialAPIKey, Owner: event.ObjectSupplier, OwnerRef: 1, Hash: [32]byte{1}, Hint: "key", At: 1},
	{Credential: event.CredentialOAuthClient, Owner: event.ObjectSupplier, OwnerRef: 1, Hash: [32]byte{2}, Hint: "old", At: 2, Client: "acme", Scopes: event.ScopePing | event.ScopePost},
	{Credential: event.CredentialOAuthClient, Owner: event.ObjectSupplier, OwnerRef: 1, Hash: [32]byte{3}, Hint: "new", At: 3, Client: "acme", Scopes: event.ScopePing},
	{Credential: event.CredentialOAuthClient, Owner: event.ObjectSupplier, OwnerRef: 1, Hash: [32]byte{4}, Hint: "two", At: 4, Client: "acme2", Scopes: event.ScopePost},
	{Credential: event.CredentialOAuthClient, Owner: event.ObjectBuyer, OwnerRef: 1, Hash: [32]byte{5}, Hint: "blu", At: 5, Client: "blue", Scopes: event.ScopeWebhook},
	{Credential: event.CredentialBearer, Owner: event.ObjectSupplier, OwnerRef: 1, Hash: [32]byte{6}, Hint: "tok", At: 6, Scopes: event.ScopePing},
}

func open(t *testing.T) *State {
	t.Helper()
	s := New()
	for i, fact := range doors {
		s.Apply(uint64(i+1), fact.At, fact)
	}
	return s
}

// loaded is the state as a snapshot gives it back.
func loaded(t *testing.T, s *State) *State {
	t.Helper()
	var file bytes.Buffer
	if _, _, err := s.WriteSnapshot(&file); err != nil {
		t.Fatal(err)
	}
	again := New()
	if _, err := again.LoadSnapshot(&file); err != nil {
		t.Fatal(err)
	}
	_, want := s.Hash()
	if _, got := again.Hash(); got != want {
		t.Errorf("a snapshot comes back as %x, it was %x", got, want)
	}
	return again
}

func TestASnapshotHasAllOfACredential(t *testing.T) {
	s := loaded(t, open(t))
	for _, e := range doors {
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

func TestFirstValuesAreSpentOnce(t *testing.T) {
	s := open(t)
	for i, hash := range [][32]byte{{1}, {2}, {3}, {5}, {6}} {
		c, _ := s.CredentialByHash(hash)
		s.Apply(uint64(len(doors)+i+1), 9, &event.CredentialAddedOrRevoked{
			Credential: c.Kind, Owner: c.Owner, OwnerRef: c.Ref, Client: c.Client, Hash: hash, Revoked: true,
		})
		if _, ok := s.CredentialByHash(hash); ok {
			t.Errorf("%q is good after it was revoked", c.Hint)
		}
	}
	key, client, token := event.CredentialAPIKey, event.CredentialOAuthClient, event.CredentialBearer
	for _, s := range []*State{s, loaded(t, s)} {
		for _, row := range []struct {
			what  string
			first event.CredentialAddedOrRevoked
			spent bool
		}{
			{"another key of a supplier whose key is gone", event.CredentialAddedOrRevoked{Credential: key, Owner: event.ObjectSupplier, OwnerRef: 1, Hash: [32]byte{99}}, true},
			{"the key of another supplier", event.CredentialAddedOrRevoked{Credential: key, Owner: event.ObjectSupplier, OwnerRef: 2, Hash: [32]byte{99}}, false},
			{"another secret of a client that is revoked", event.CredentialAddedOrRevoked{Credential: client, Owner: event.ObjectSupplier, OwnerRef: 1, Client: "acme", Hash: [32]byte{99}}, true},
			{"a secret of another client", event.CredentialAddedOrRevoked{Credential: client, Owner: event.ObjectSupplier, OwnerRef: 1, Client: "acme3", Hash: [32]byte{99}}, false},
			{"a buyer's client of the same name", event.CredentialAddedOrRevoked{Credential: client, Owner: event.ObjectBuyer, OwnerRef: 1, Client: "acme", Hash: [32]byte{99}}, false},
			{"a token that is revoked", event.CredentialAddedOrRevoked{Credential: token, Owner: event.ObjectSupplier, OwnerRef: 1, Hash: [32]byte{6}}, true},
			{"another token", event.CredentialAddedOrRevoked{Credential: token, Owner: event.ObjectSupplier, OwnerRef: 1, Hash: [32]byte{99}}, false},
		} {
			if got := s.HasCredentialEverExisted(&row.first); got != row.spent {
				t.Errorf("%s: spent %v", row.what, got)
			}
		}
	}
}

func TestCredentialsOfAnOwner(t *testing.T) {
	s := open(t)
	var hints []string
	for _, c := range s.CredentialsOf(event.CredentialOAuthClient, event.ObjectSupplier, 1) {
		hints = append(hints, c.Hint)
	}
	if !slices.Equal(hints, []string{"old", "new", "two"}) {
		t.Errorf("secrets of supplier 1: %q, want them oldest first", hints)
	}
	for client, want := range map[string]event.ConfigObjectKind{"acme": event.ObjectSupplier, "blue": event.ObjectBuyer, "": 0, "none": 0} {
		if owner, ref, ok := s.OwnerOfOAuthClient(client); owner != want || ok != (want != 0) || ok && ref != 1 {
			t.Errorf("client %q is of %d %d, %v", client, owner, ref, ok)
		}
	}
}
