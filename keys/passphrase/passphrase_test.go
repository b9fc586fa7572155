package passphrase

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
)

func TestCheckPassword(t *testing.T) {
	k := New()
	hash := must.Value(k.HashPassword("correct horse battery"))(t)
	again, err := k.HashPassword("correct horse battery")
	if err != nil || again == hash {
		t.Errorf("two hashes of one password are equal, %v", err)
	}
	for password, want := range map[string]bool{"correct horse battery": true, "correct horse batterz": false, "": false, "correct horse battery ": false} {
		for _, hash := range []string{hash, again} {
			if got, err := k.CheckPassword(hash, password); got != want || err != nil {
				t.Errorf("password %q: accepted %t, %v", password, got, err)
			}
		}
		if got, err := k.CheckPassword("", password); got || err != nil {
			t.Errorf("unknown user with password password %q: accepted %t, %v", password, got, err)
		}
	}
}

// TestHashesAreFrozen protects the hashes in existing logs.
func TestHashesAreFrozen(t *testing.T) {
	const hash = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$hbX5BcR4VcARguIF6etTj3ZuB9aUAnozWKXV8K60XcU"
	if ok, err := New().CheckPassword(hash, "correct horse battery"); !ok || err != nil {
		key, _ := New().deriveKey("correct horse battery", make([]byte, saltSize))
		t.Errorf("accepted %t, %v; the hash is now %s", ok, err, encodeHash(make([]byte, saltSize), key))
	}
}

func TestDummyHashIsValidAndInvalidHashesFail(t *testing.T) {
	k := New()
	if _, _, err := decodeHash(k.dummyHash); err != nil {
		t.Error(err)
	}
	for _, hash := range []string{"x", "$argon2id$v=19$m=19456,t=1,p=1$" + strings.TrimPrefix(k.dummyHash, hashPrefix), k.dummyHash[:len(k.dummyHash)-1], k.dummyHash + "A", hashPrefix, hashPrefix + "$"} {
		if ok, err := k.CheckPassword(hash, "x"); ok || err == nil {
			t.Errorf("%s: %v, %v", hash, ok, err)
		}
	}
}

func TestConcurrentHashesAreLimited(t *testing.T) {
	k := New()
	for range maxConcurrent {
		k.slots <- struct{}{}
	}
	k.maxWait = 20 * time.Millisecond
	if _, err := k.HashPassword("x"); !errors.Is(err, ErrBusy) {
		t.Errorf("HashPassword above the limit: %v, want ErrBusy", err)
	}
	if _, err := k.CheckPassword("", "x"); !errors.Is(err, ErrBusy) {
		t.Errorf("CheckPassword above the limit: %v, want ErrBusy", err)
	}
	k.maxWait = time.Minute
	go func() { <-k.slots }()
	if _, err := k.CheckPassword("", "x"); err != nil {
		t.Errorf("CheckPassword below the limit: %v", err)
	}
}
