package state

import (
	"slices"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

func TestNamesAndCapsKeepTheirNumbers(t *testing.T) {
	x := newTestExchange()
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
		if ref := x.RefOf(test.kind, test.id); ref != test.ref {
			t.Errorf("%q of kind %d has number %d, want %d", test.id, test.kind, ref, test.ref)
		}
		if test.ref > 0 && x.NameOf(test.kind, test.ref) != test.id {
			t.Errorf("number %d of kind %d is %q", test.ref, test.kind, x.NameOf(test.kind, test.ref))
		}
	}
	if x.NameOf(event.ObjectBuyer, 0) != "" || x.NameOf(event.ObjectBuyer, 4) != "" || x.NameOf(99, 1) != "" {
		t.Error("an unused number has a name")
	}
	if n := x.CountPermanentNumbers(event.ObjectBuyer); n != 3 || x.CountPermanentNumbers(99) != 0 {
		t.Errorf("%d buyers, %d names of an unknown kind", n, x.CountPermanentNumbers(99))
	}
	refs := x.CapRefsByKey()
	if want := (market.CapKey{Scope: market.ScopeBuyer, Campaign: 1, Buyer: 1, Unit: market.UnitMoney, Period: calendar.Hour, Zone: "UTC"}); len(refs) != 3 || refs[want] != 2 {
		t.Errorf("caps %v", refs)
	}
	refs[market.CapKey{}] = 9 // changes the caller's copy
	if len(x.CapRefsByKey()) != 3 || New().CapRefsByKey() == nil {
		t.Error("CapRefsByKey returns the state's own map, or nil")
	}
}

func TestCredentialsPausesSecretsAndLists(t *testing.T) {
	x := newTestExchange()
	key := func(hash byte, at int64, revoked bool) *event.CredentialAddedOrRevoked {
		return &event.CredentialAddedOrRevoked{
			Credential: event.CredentialAPIKey, Owner: event.ObjectSupplier, OwnerRef: 1,
			Hash: [32]byte{hash}, Hint: "pk", At: at, Revoked: revoked,
		}
	}
	if x.HasCredentialEverExisted(key(0, 0, false)) {
		t.Error("a credential existed before the first")
	}
	x.logAndApply(key(2, 20, false))
	x.logAndApply(key(1, 20, false))
	x.logAndApply(key(3, 10, false))
	var order []byte
	for _, c := range x.CredentialsOf(event.CredentialAPIKey, event.ObjectSupplier, 1) {
		order = append(order, c.Hash[0])
	}
	if !slices.Equal(order, []byte{3, 1, 2}) {
		t.Errorf("credentials %v, want the oldest first", order)
	}
	for _, hash := range []byte{1, 2, 3, 4} {
		x.logAndApply(key(hash, 30, true))
		if _, ok := x.CredentialByHash([32]byte{hash}); ok {
			t.Errorf("found the revoked credential %d", hash)
		}
	}
	if !x.HasCredentialEverExisted(key(0, 0, false)) || x.HasCredentialEverExisted(&event.CredentialAddedOrRevoked{Credential: event.CredentialAPIKey, Owner: event.ObjectSupplier, OwnerRef: 2}) {
		t.Error("HasCredentialEverExisted is wrong after the revocations")
	}
	if paused, seen := x.PauseStatus(event.ObjectBuyer, 1); paused || seen {
		t.Error("a buyer without a pause event is paused")
	}
	x.logAndApply(&event.CampaignOrBuyerPausedOrResumed{Target: event.ObjectBuyer, Ref: 1, Paused: true})
	x.logAndApply(&event.CampaignOrBuyerPausedOrResumed{Target: event.ObjectCampaign, Ref: 1})
	if paused, seen := x.PauseStatus(event.ObjectBuyer, 1); !paused || !seen {
		t.Error("a paused buyer is not paused")
	}
	if paused, seen := x.PauseStatus(event.ObjectCampaign, 1); paused || !seen {
		t.Error("a campaign with a buyer's number is paused")
	}
	x.logAndApply(&event.SecretStoredOrDeleted{Name: "buyer/red", Sealed: []byte{1}})
	x.logAndApply(&event.SecretStoredOrDeleted{Name: "buyer/red", Sealed: []byte{2}})
	if sealed, ok := x.SealedSecret("buyer/red"); !ok || sealed[0] != 2 {
		t.Errorf("secret %v, %t", sealed, ok)
	}
	if _, ok := x.SealedSecret("buyer/blue"); ok {
		t.Error("found a secret that was never stored")
	}
	_, kept := x.Hash()
	x.logAndApply(&event.SecretStoredOrDeleted{Name: "buyer/blue", Sealed: []byte{3}})
	x.logAndApply(&event.SecretStoredOrDeleted{Name: "buyer/blue"})
	if _, ok := x.SealedSecret("buyer/blue"); ok {
		t.Error("found a deleted secret")
	}
	if _, hash := x.Hash(); hash != kept {
		t.Error("a deleted secret changes the hash")
	}
	x.logAndApply(&event.SuppressionListContentLoaded{List: 1, File: "f", Source: "s", Entries: 3})
	if file, ok := x.SuppressionListFile(1); !ok || file != (SuppressionListFile{File: "f", Source: "s", Entries: 3}) {
		t.Errorf("list %+v, %t", file, ok)
	}
}
