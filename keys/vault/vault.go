// Package vault keeps the exchange's own key, from which all its other keys
// are derived, and seals the secrets that the exchange presents to others.
//
// The key is a file of its own beside the log: who has only the log, or a
// backup of it, can read no secret, and cannot find out by guessing whose
// phone number a hash is of.
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
)

// Vault holds the exchange's key. It is safe for many goroutines.
type Vault struct {
	root [32]byte
	aead cipher.AEAD
}

// ErrMissing is returned where a log has been begun with a key that is gone.
var ErrMissing = errors.New("the exchange's key file is missing")

// path is where the key lies in a data directory.
func path(dir string) string { return filepath.Join(dir, "keys", "exchange.key") }

// Open reads the key of a data directory. Where there is none it makes one if
// create is set; it is durable when Open returns.
func Open(dir string, create bool) (*Vault, error) {
	text, err := os.ReadFile(path(dir))
	switch {
	case errors.Is(err, os.ErrNotExist) && create:
		return found(dir)
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%w: %q; put it back from a backup: without it the log's hashes and secrets mean nothing", ErrMissing, path(dir))
	case err != nil:
		return nil, fmt.Errorf("cannot read the exchange's key: %w", err)
	}
	raw, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(raw) != 32 {
		return nil, fmt.Errorf("the exchange's key %q is not 64 hexadecimal digits; put it back from a backup", path(dir))
	}
	return of([32]byte(raw))
}

// found makes a key and its file, durably. It is written under another name
// first: half a key, left by a crash, would be refused for good. The caller
// holds the folder's lock.
func found(dir string) (*Vault, error) {
	var root [32]byte
	_, _ = rand.Read(root[:])
	folder, unfinished := filepath.Dir(path(dir)), path(dir)+".new"
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the folder of the exchange's key: %w", err)
	}
	file, err := os.OpenFile(unfinished, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot make the exchange's key: %w", err)
	}
	_, err = file.WriteString(hex.EncodeToString(root[:]) + "\n")
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = errors.Join(os.Rename(unfinished, path(dir)), syncFolder(folder), syncFolder(dir))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot write the exchange's key: %w", err)
	}
	return of(root)
}

func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func of(root [32]byte) (*Vault, error) {
	v := &Vault{root: root}
	key := v.Derive("secrets")
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	v.aead, err = cipher.NewGCM(block)
	return v, err
}

// Derive is the key for one purpose.
func (v *Vault) Derive(purpose string) (key [32]byte) {
	raw, err := hkdf.Key(sha256.New, v.root[:], nil, "pingpost/"+purpose, len(key))
	if err != nil {
		panic("BUG: a key of 32 bytes cannot be derived: " + err.Error())
	}
	copy(key[:], raw)
	return key
}

// Check tells keys apart without telling anything of them.
func (v *Vault) Check() (check [16]byte) {
	key := v.Derive("check")
	copy(check[:], key[:])
	return check
}

// Seal seals a secret under its name: it opens under no other.
func (v *Vault) Seal(name, secret string) []byte {
	nonce := make([]byte, v.aead.NonceSize(), v.aead.NonceSize()+len(secret)+v.aead.Overhead())
	_, _ = rand.Read(nonce)
	return v.aead.Seal(nonce, nonce, []byte(secret), []byte(name))
}

// Open opens what Seal made.
func (v *Vault) Open(name string, sealed []byte) (string, error) {
	if len(sealed) < v.aead.NonceSize() {
		return "", fmt.Errorf("the secret %q is too short to be one", name)
	}
	secret, err := v.aead.Open(nil, sealed[:v.aead.NonceSize()], sealed[v.aead.NonceSize():], []byte(name))
	if err != nil {
		return "", fmt.Errorf("the secret %q was sealed with another key", name)
	}
	return string(secret), nil
}
