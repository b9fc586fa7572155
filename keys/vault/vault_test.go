package vault

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
)

func mustOpen(t testing.TB, dir string, create bool) *Vault {
	t.Helper()
	return must.Value(OpenExchangeKey(dir, create))(t)
}

func TestKeyIsCreatedOnce(t *testing.T) {
	dir := t.TempDir()
	if _, err := OpenExchangeKey(dir, false); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "exchange.key") {
		t.Errorf("Open without a key: %v, want ErrMissing", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("Open without create created %v, %v", entries, err)
	}
	first := mustOpen(t, dir, true)
	again, other := mustOpen(t, dir, true), mustOpen(t, t.TempDir(), true)
	if first.root != again.root || first.KeyFingerprint() != again.KeyFingerprint() || first.root != mustOpen(t, dir, false).root {
		t.Error("a second Open returns another key")
	}
	if first.root == other.root || first.KeyFingerprint() == other.KeyFingerprint() || first.DeriveKey("hashes") == other.DeriveKey("hashes") {
		t.Error("two folders have the same key")
	}
	if first.root == [32]byte{} {
		t.Error("the key is zero")
	}
	for path, want := range map[string]os.FileMode{"keys": 0o700 | os.ModeDir, "keys/exchange.key": 0o600} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "keys")); err != nil || len(entries) != 1 {
		t.Errorf("files in the key's folder: %v, %v", entries, err)
	}
}

// TestKeyFileReplacesSymlink: Open renames a complete file to the key's name, so it does not write
// through a symbolic link in that place.
func TestKeyFileReplacesSymlink(t *testing.T) {
	dir := t.TempDir()
	must.Succeed(t, os.Mkdir(filepath.Join(dir, "keys"), 0o700))
	must.Succeed(t, os.Symlink(filepath.Join(dir, "elsewhere"), exchangeKeyPath(dir)))
	mustOpen(t, dir, true)
	if info, err := os.Lstat(exchangeKeyPath(dir)); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestPartialKeyFileIsIgnored: a partial file of a crash does not block the next start.
func TestPartialKeyFileIsIgnored(t *testing.T) {
	dir := t.TempDir()
	must.Succeed(t, os.Mkdir(filepath.Join(dir, "keys"), 0o700))
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "keys", ".new-1"), []byte("abc"), 0o600))
	v := mustOpen(t, dir, true)
	if mustOpen(t, dir, false).root != v.root {
		t.Error("a second Open returns another key")
	}
}

func TestInvalidKeyFiles(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "too short": strings.Repeat("a", 63), "too long": strings.Repeat("a", 66), "not hexadecimal": strings.Repeat("z", 64),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			mustOpen(t, dir, true)
			must.Succeed(t, os.WriteFile(exchangeKeyPath(dir), []byte(text), 0o600))
			for _, create := range []bool{true, false} {
				if _, err := OpenExchangeKey(dir, create); err == nil || !strings.Contains(err.Error(), "backup") || text != "" && strings.Contains(err.Error(), text) {
					t.Errorf("%v", err)
				}
			}
			if kept, err := os.ReadFile(exchangeKeyPath(dir)); err != nil || string(kept) != text {
				t.Errorf("Open changed the file to %q, %v", kept, err)
			}
		})
	}
	t.Run("a folder", func(t *testing.T) {
		dir := t.TempDir()
		must.Succeed(t, os.MkdirAll(exchangeKeyPath(dir), 0o700))
		if _, err := OpenExchangeKey(dir, true); err == nil {
			t.Error("Open returns no error")
		}
	})
	t.Run("a file instead of the folder", func(t *testing.T) {
		dir := t.TempDir()
		must.Succeed(t, os.WriteFile(filepath.Join(dir, "keys"), nil, 0o600))
		if _, err := OpenExchangeKey(dir, true); err == nil {
			t.Error("Open returns no error")
		}
	})
}

// TestDerivedKeysAreFixed protects the hashes and secrets in existing logs.
func TestDerivedKeysAreFixed(t *testing.T) {
	v := must.Value(newVault([32]byte{1, 2, 3}))(t)
	for purpose, want := range map[string]string{
		"hashes": "65318066744a268f64e45819873c2bb2e3ed7241030695cfccc19952a934a221", "secrets": "26268590566a9957c312e16601e86d3b87d2ddda266eac57bffd06463e488c93", "check": "2a835e0dba946333fb6eeb22dbb1304e2b0a1d5e0eeb10b45969259a96489cb7",
	} {
		key := v.DeriveKey(purpose)
		if got := hex.EncodeToString(key[:]); got != want {
			t.Errorf("%s: %s, want %s", purpose, got, want)
		}
	}
	if check := v.KeyFingerprint(); bytes.Contains(v.root[:], check[:]) {
		t.Error("the fingerprint is part of the key")
	}
}

func TestSealSecret(t *testing.T) {
	v, other := mustOpen(t, t.TempDir(), true), mustOpen(t, t.TempDir(), true)
	for _, secret := range []string{"", "s", strings.Repeat("secret", 1000), "ü\x00"} {
		sealed := v.SealSecret("name", secret)
		if got, err := v.OpenSecret("name", sealed); err != nil || got != secret {
			t.Errorf("%q, %v, want %q", got, err, secret)
		}
		if len(secret) > 3 && bytes.Contains(sealed, []byte(secret)) {
			t.Error("the sealed secret contains the plain text")
		}
		if bytes.Equal(sealed, v.SealSecret("name", secret)) {
			t.Error("two seals of the same secret are equal")
		}
		checkRejected := func(test string, v *Vault, name string, sealed []byte) {
			t.Helper()
			if got, err := v.OpenSecret(name, sealed); err == nil || got != "" || secret != "" && strings.Contains(err.Error(), secret) && len(secret) > 3 {
				t.Errorf("%s: %q, %v", test, got, err)
			}
		}
		checkRejected("another name", v, "name2", sealed)
		checkRejected("another key", other, "name", sealed)
		checkRejected("empty", v, "name", nil)
		for cut := range min(len(sealed), 64) {
			checkRejected("truncated", v, "name", sealed[:cut])
			flipped := bytes.Clone(sealed)
			flipped[cut] ^= 1
			checkRejected("flipped bit", v, "name", flipped)
		}
	}
}
