package token

import (
	"encoding/hex"
	"testing"

	"pgregory.net/rapid"
)

// The log has these hashes, so they must not change.
func TestHashesAreFrozen(t *testing.T) {
	for what, row := range map[string]struct {
		got  [32]byte
		want string
	}{
		"a client":      {mint.HashClient([]byte("acme"), []byte("secret")), "0ca9d53b999e620450ef2de3f1d8fc0c42150eeed07c64036cdab3587e1c11b7"},
		"an operator's": {mint.HashPersonal([]byte("token")), "ba7ad41f8a758c861ec88c7b2aac34e05f115962078ed17c1c028b29a3e1703f"},
		"a token":       {mint.HashBearer([]byte("token")), "af791feae22c5063d9a8fed267a2b33dc0b3e1c74eaa7835f2bc54d170c01671"},
	} {
		if got := hex.EncodeToString(row.got[:]); got != row.want {
			t.Errorf("%s: %s, was %s", what, got, row.want)
		}
	}
}

// Only the same id with the same secret has the same hash, and no token has the hash of a
// client.
func TestHashesTellApart(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 'a'}), 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		id, secret := words.Draw(t, "id"), words.Draw(t, "secret")
		id2, secret2 := words.Draw(t, "another id"), words.Draw(t, "another secret")
		same := string(id) == string(id2) && string(secret) == string(secret2)
		if (mint.HashClient(id, secret) == mint.HashClient(id2, secret2)) != same {
			t.Fatalf("%q %q and %q %q", id, secret, id2, secret2)
		}
		if mint.HashClient(id, secret) == mint.HashBearer(append(id, secret...)) {
			t.Fatal("a token has a client's hash")
		}
		if mint.HashPersonal(secret) == mint.HashBearer(secret) || mint.HashPersonal(append(id, secret...)) == mint.HashClient(id, secret) {
			t.Fatal("an operator's token has the hash of another kind")
		}
		if mint.HashClient(id, secret) == other.HashClient(id, secret) {
			t.Fatal("the hash is not keyed")
		}
	})
	if mint.HashClient([]byte("ab"), []byte("c")) == mint.HashClient([]byte("a"), []byte("bc")) {
		t.Error("where the id ends does not matter")
	}
	if mint.HashClient([]byte("a"), nil) == mint.HashBearer([]byte("a")) {
		t.Error("a client without a secret is a token")
	}
}
