package token

import (
	"encoding/hex"
	"testing"

	"pgregory.net/rapid"
)

// TestHashesAreFrozen protects the hashes in existing logs.
func TestHashesAreFrozen(t *testing.T) {
	for name, row := range map[string]struct {
		got  [32]byte
		want string
	}{
		"client":           {mint.HashClientCredentials([]byte("acme"), []byte("secret")), "0ca9d53b999e620450ef2de3f1d8fc0c42150eeed07c64036cdab3587e1c11b7"},
		"operator's token": {mint.HashOperatorAPIToken([]byte("token")), "ba7ad41f8a758c861ec88c7b2aac34e05f115962078ed17c1c028b29a3e1703f"},
		"invitation":       {mint.HashInvitation([]byte("token")), "9791b377e495748569f88ec30d2214a438b1417ce2d463f43ccaebb52e76d8dc"},
		"recovery code":    {mint.HashRecoveryCode([]byte("anna"), []byte("code")), "74faa6ea36c4e1af5433ecbd4eba1d929c1b355a38ea04b4eda5fdbc05a41352"},
		"bearer token":     {mint.HashStaticBearerToken([]byte("token")), "af791feae22c5063d9a8fed267a2b33dc0b3e1c74eaa7835f2bc54d170c01671"},
	} {
		if got := hex.EncodeToString(row.got[:]); got != row.want {
			t.Errorf("%s: hash %s, want %s", name, got, row.want)
		}
	}
}

func TestHashesDifferByKindAndInput(t *testing.T) {
	texts := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 'a'}), 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		id, secret := texts.Draw(t, "id"), texts.Draw(t, "secret")
		id2, secret2 := texts.Draw(t, "another id"), texts.Draw(t, "another secret")
		same := string(id) == string(id2) && string(secret) == string(secret2)
		if (mint.HashClientCredentials(id, secret) == mint.HashClientCredentials(id2, secret2)) != same {
			t.Fatalf("clients %q %q and %q %q: equal hashes are wrong or missing", id, secret, id2, secret2)
		}
		if mint.HashClientCredentials(id, secret) == mint.HashStaticBearerToken(append(id, secret...)) {
			t.Fatal("a bearer token and a client have the same hash")
		}
		if mint.HashOperatorAPIToken(secret) == mint.HashStaticBearerToken(secret) || mint.HashOperatorAPIToken(append(id, secret...)) == mint.HashClientCredentials(id, secret) {
			t.Fatal("an operator's token and another kind have the same hash")
		}
		if mint.HashClientCredentials(id, secret) == other.HashClientCredentials(id, secret) {
			t.Fatal("the hash is not keyed")
		}
	})
	if mint.HashClientCredentials([]byte("ab"), []byte("c")) == mint.HashClientCredentials([]byte("a"), []byte("bc")) {
		t.Error("the hash ignores where the id ends")
	}
	if mint.HashClientCredentials([]byte("a"), nil) == mint.HashStaticBearerToken([]byte("a")) {
		t.Error("a client without a secret and a bearer token have the same hash")
	}
}
