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
		"client":           {mint.HashClient([]byte("acme"), []byte("secret")), "0ca9d53b999e620450ef2de3f1d8fc0c42150eeed07c64036cdab3587e1c11b7"},
		"operator's token": {mint.HashPersonal([]byte("token")), "ba7ad41f8a758c861ec88c7b2aac34e05f115962078ed17c1c028b29a3e1703f"},
		"bearer token":     {mint.HashBearer([]byte("token")), "af791feae22c5063d9a8fed267a2b33dc0b3e1c74eaa7835f2bc54d170c01671"},
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
		if (mint.HashClient(id, secret) == mint.HashClient(id2, secret2)) != same {
			t.Fatalf("clients %q %q and %q %q: equal hashes are wrong or missing", id, secret, id2, secret2)
		}
		if mint.HashClient(id, secret) == mint.HashBearer(append(id, secret...)) {
			t.Fatal("a bearer token and a client have the same hash")
		}
		if mint.HashPersonal(secret) == mint.HashBearer(secret) || mint.HashPersonal(append(id, secret...)) == mint.HashClient(id, secret) {
			t.Fatal("an operator's token and another kind have the same hash")
		}
		if mint.HashClient(id, secret) == other.HashClient(id, secret) {
			t.Fatal("the hash is not keyed")
		}
	})
	if mint.HashClient([]byte("ab"), []byte("c")) == mint.HashClient([]byte("a"), []byte("bc")) {
		t.Error("the hash ignores where the id ends")
	}
	if mint.HashClient([]byte("a"), nil) == mint.HashBearer([]byte("a")) {
		t.Error("a client without a secret and a bearer token have the same hash")
	}
}
