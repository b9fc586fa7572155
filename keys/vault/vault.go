// Package vault stores the exchange's key, derives all other keys from it, and seals the
// secrets that the exchange presents to others.
//
// The key is in its own file, apart from the log. The log or its backup alone therefore
// reveals no secret, and does not allow guessing the phone number behind a hash.
package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pingpost/internal/durable"
)

// Vault has the exchange's root key, from which all other keys derive, and encrypts secrets
// with it. It is safe for concurrent use.
type Vault struct {
	root [32]byte
	aead cipher.AEAD
}

// ErrMissing reports that the key of an existing log is missing.
var ErrMissing = errors.New("the exchange's key file is missing")

// exchangeKeyPath returns the path of the exchange's key file in data directory dir.
func exchangeKeyPath(dir string) string { return filepath.Join(dir, "keys", "exchange.key") }

// OpenExchangeKey reads the exchange's key from a data directory. If the file is missing and createIfMissing is
// true, it creates a random key durably.
func OpenExchangeKey(dir string, createIfMissing bool) (*Vault, error) {
	text, err := os.ReadFile(exchangeKeyPath(dir))
	switch {
	case errors.Is(err, os.ErrNotExist) && createIfMissing:
		return createVaultWithNewKey(dir)
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%w: %q; restore it from a backup; without it the log's hashes and secrets are useless", ErrMissing, exchangeKeyPath(dir))
	case err != nil:
		return nil, fmt.Errorf("cannot read the exchange's key: %w", err)
	}
	raw, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(raw) != 32 {
		return nil, fmt.Errorf("the content of the exchange's key file %q is not 64 hexadecimal digits; restore it from a backup", exchangeKeyPath(dir))
	}
	return newVault([32]byte(raw))
}

// createVaultWithNewKey creates the exchange's key and its file durably and as a whole, because a
// key file that a crash cut short would be rejected for good. The caller holds the data
// directory's lock.
func createVaultWithNewKey(dir string) (*Vault, error) {
	var root [32]byte
	_, _ = rand.Read(root[:])
	if err := durable.WriteFile(exchangeKeyPath(dir), strings.NewReader(hex.EncodeToString(root[:])+"\n")); err != nil {
		return nil, fmt.Errorf("cannot create the exchange's key: %w", err)
	}
	return newVault(root)
}

func newVault(root [32]byte) (*Vault, error) {
	v := &Vault{root: root}
	key := v.DeriveKey("secrets")
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	v.aead, err = cipher.NewGCM(block)
	return v, err
}

// DeriveKey returns a key for one purpose, derived from the exchange's key. The same purpose
// always gives the same key.
func (v *Vault) DeriveKey(purpose string) (key [32]byte) {
	raw, err := hkdf.Key(sha256.New, v.root[:], nil, "pingpost/"+purpose, len(key))
	if err != nil {
		panic("BUG: a key of 32 bytes cannot be derived: " + err.Error())
	}
	copy(key[:], raw)
	return key
}

// KeyFingerprint returns a value by which the exchange recognizes its key. It differs for
// different keys and does not reveal the key.
func (v *Vault) KeyFingerprint() (check [16]byte) {
	key := v.DeriveKey("check")
	copy(check[:], key[:])
	return check
}

// SealSecret encrypts a secret and binds it to its name: OpenSecret needs the same name.
func (v *Vault) SealSecret(name, secret string) []byte {
	nonce := make([]byte, v.aead.NonceSize(), v.aead.NonceSize()+len(secret)+v.aead.Overhead())
	_, _ = rand.Read(nonce)
	return v.aead.Seal(nonce, nonce, []byte(secret), []byte(name))
}

// OpenSecret decrypts the output of SealSecret. It fails for another name, another exchange's
// key, or damaged data.
func (v *Vault) OpenSecret(name string, sealed []byte) (string, error) {
	if len(sealed) < v.aead.NonceSize() {
		return "", fmt.Errorf("the sealed secret %q is too short; it is damaged", name)
	}
	secret, err := v.aead.Open(nil, sealed[:v.aead.NonceSize()], sealed[v.aead.NonceSize():], []byte(name))
	if err != nil {
		return "", fmt.Errorf("cannot decrypt the secret %q: it was sealed with another key, or is damaged", name)
	}
	return string(secret), nil
}
