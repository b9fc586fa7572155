package state

import (
	"slices"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

func TestNamesKeepTheirNumbers(t *testing.T) {
	w := newWorld()
	for _, test := range []struct {
		kind event.ConfigObjectKind
		id   string
		ref  market.PermanentNumber
	}{
		{event.ObjectBuyer, "red", 1},
		{event.ObjectBuyer, "blue", 3},
		{event.ObjectCampaign, "home", 2},
		{event.ObjectSupplier, "red", 0},
		{event.ObjectBuyer, "", 0},
		{99, "red", 0},
	} {
		if ref := w.RefOf(test.kind, test.id); ref != test.ref {
			t.Errorf("%q of kind %d has number %d, want %d", test.id, test.kind, ref, test.ref)
		}
		if test.ref > 0 && w.NameOf(test.kind, test.ref) != test.id {
			t.Errorf("number %d of kind %d is %q", test.ref, test.kind, w.NameOf(test.kind, test.ref))
		}
	}
	if w.NameOf(event.ObjectBuyer, 0) != "" || w.NameOf(event.ObjectBuyer, 4) != "" || w.NameOf(99, 1) != "" {
		t.Error("a number that nobody has is somebody's")
	}
	if n := w.CountNumberedNames(event.ObjectBuyer); n != 3 || w.CountNumberedNames(99) != 0 {
		t.Errorf("%d buyers, %d of a kind that is none", n, w.CountNumberedNames(99))
	}
	refs := w.CapRefsByKey()
	if want := (market.CapKey{Scope: market.ScopeBuyer, Campaign: 1, Buyer: 1, Unit: market.UnitMoney, Period: calendar.Hour, Zone: "UTC"}); len(refs) != 3 || refs[want] != 2 {
		t.Errorf("caps %v", refs)
	}
	refs[market.CapKey{}] = 9 // the caller's own
	if len(w.CapRefsByKey()) != 3 || New().CapRefsByKey() == nil {
		t.Error("the register of caps was handed out")
	}
}

func TestCredentialsAndDoors(t *testing.T) {
	w := newWorld()
	key := func(hash byte, at int64, revoked bool) *event.CredentialAddedOrRevoked {
		return &event.CredentialAddedOrRevoked{
			Credential: event.CredentialAPIKey, Owner: event.ObjectSupplier, OwnerRef: 1,
			Hash: [32]byte{hash}, Hint: "pk", At: at, Revoked: revoked,
		}
	}
	if w.HasCredentialEverExisted(key(0, 0, false)) {
		t.Error("a credential before the first")
	}
	w.fact(key(2, 20, false))
	w.fact(key(1, 20, false))
	w.fact(key(3, 10, false))
	var order []byte
	for _, c := range w.CredentialsOf(event.CredentialAPIKey, event.ObjectSupplier, 1) {
		order = append(order, c.Hash[0])
	}
	if !slices.Equal(order, []byte{3, 1, 2}) {
		t.Errorf("oldest first: %v", order)
	}
	for _, hash := range []byte{1, 2, 3, 4} {
		w.fact(key(hash, 30, true))
		if _, ok := w.CredentialByHash([32]byte{hash}); ok {
			t.Errorf("%d is revoked and opens", hash)
		}
	}
	if !w.HasCredentialEverExisted(key(0, 0, false)) || w.HasCredentialEverExisted(&event.CredentialAddedOrRevoked{Credential: event.CredentialAPIKey, Owner: event.ObjectSupplier, OwnerRef: 2}) {
		t.Error("that there was one is forgotten")
	}
	if paused, seen := w.PauseStatus(event.ObjectBuyer, 1); paused || seen {
		t.Error("a door nobody touched is shut")
	}
	w.fact(&event.PausedOrResumed{Target: event.ObjectBuyer, Ref: 1, Paused: true})
	w.fact(&event.PausedOrResumed{Target: event.ObjectCampaign, Ref: 1})
	if paused, seen := w.PauseStatus(event.ObjectBuyer, 1); !paused || !seen {
		t.Error("a paused buyer is open")
	}
	if paused, seen := w.PauseStatus(event.ObjectCampaign, 1); paused || !seen {
		t.Error("a campaign with a buyer's number is paused")
	}
	w.fact(&event.SecretStoredOrDeleted{Name: "buyer/red", Sealed: []byte{1}})
	w.fact(&event.SecretStoredOrDeleted{Name: "buyer/red", Sealed: []byte{2}})
	if sealed, ok := w.SealedSecret("buyer/red"); !ok || sealed[0] != 2 {
		t.Errorf("secret %v, %t", sealed, ok)
	}
	if _, ok := w.SealedSecret("buyer/blue"); ok {
		t.Error("a secret nobody set")
	}
	_, kept := w.Hash()
	w.fact(&event.SecretStoredOrDeleted{Name: "buyer/blue", Sealed: []byte{3}})
	w.fact(&event.SecretStoredOrDeleted{Name: "buyer/blue"})
	if _, ok := w.SealedSecret("buyer/blue"); ok {
		t.Error("a secret that was set to nothing")
	}
	if _, hash := w.Hash(); hash != kept {
		t.Error("a secret that was set to nothing leaves a trace")
	}
	w.fact(&event.SuppressionListReplaced{List: 1, File: "f", Source: "s", Entries: 3})
	if file, ok := w.SuppressionListFile(1); !ok || file != (SuppressionListFile{File: "f", Source: "s", Entries: 3}) {
		t.Errorf("list %+v, %t", file, ok)
	}
}
