// Package passphrase hashes and checks operators' passwords.
//
// Passwords can be guessed, so each guess must be expensive: argon2id with 19 MiB and two
// iterations, as OWASP recommends. The exchange pays that price too, and strangers decide
// how often. The package therefore computes at most two hashes at once. A further call
// waits for up to two seconds and then returns ErrBusy.
package passphrase

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"
)

// Bounds of a password. MinLength counts characters, MaxLength bytes.
const (
	MinLength = 12
	MaxLength = 1024
)

const (
	memoryKiB     = 19 << 10 // KiB
	iterations    = 2
	lanes         = 1
	saltSize      = 16 // bytes
	keySize       = 32
	maxConcurrent = 2
	maxWait       = 2 * time.Second
)

// hashPrefix begins every hash, in the PHC format.
var hashPrefix = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$", argon2.Version, memoryKiB, iterations, lanes)

// ErrBusy reports that too many hashes are being computed.
var ErrBusy = errors.New("too many passwords are being checked at once; try again")

// Hasher hashes passwords with Argon2 and checks them. It limits the number of concurrent
// calls, because each needs much memory. It is safe for concurrent use.
type Hasher struct {
	slots     chan struct{}
	maxWait   time.Duration
	dummyHash string // hash that no password matches
}

// New returns a Hasher, with the limit and the waiting time of this package.
func New() *Hasher {
	k := &Hasher{slots: make(chan struct{}, maxConcurrent), maxWait: maxWait}
	k.dummyHash = encodeHash(make([]byte, saltSize), make([]byte, keySize))
	return k
}

// HashPassword returns the hash of a password, with a random salt, for storing. The error is
// ErrBusy if too many hashes are being computed.
func (k *Hasher) HashPassword(password string) (hash string, err error) {
	var random [saltSize]byte
	_, _ = rand.Read(random[:])
	key, err := k.deriveKey(password, random[:])
	if err != nil {
		return "", err
	}
	return encodeHash(random[:], key), nil
}

// CheckPassword reports whether the stored hash was made from the password. An empty hash
// matches no password, and takes equally long, so that a caller cannot find out which accounts
// exist. The error is ErrBusy, or reports a hash in an unknown format.
func (k *Hasher) CheckPassword(hash, password string) (matches bool, err error) {
	hasPassword := hash != ""
	if !hasPassword {
		hash = k.dummyHash
	}
	random, want, err := decodeHash(hash)
	if err != nil {
		return false, err
	}
	key, err := k.deriveKey(password, random)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(key, want) == 1 && hasPassword, nil
}

// deriveKey computes the Argon2 key of a password and a salt. It waits until less than the
// maximum number of computations run. The error is ErrBusy after maxWait.
func (k *Hasher) deriveKey(password string, salt []byte) ([]byte, error) {
	timer := time.NewTimer(k.maxWait)
	defer timer.Stop()
	select {
	case k.slots <- struct{}{}:
	case <-timer.C:
		return nil, ErrBusy
	}
	defer func() { <-k.slots }()
	return argon2.IDKey([]byte(password), salt, iterations, memoryKiB, lanes, keySize), nil
}

func encodeHash(salt, key []byte) string {
	text := base64.RawStdEncoding
	return hashPrefix + text.EncodeToString(salt) + "$" + text.EncodeToString(key)
}

func decodeHash(hash string) (salt, key []byte, err error) {
	rest, ours := strings.CutPrefix(hash, hashPrefix)
	first, second, two := strings.Cut(rest, "$")
	salt, err1 := base64.RawStdEncoding.DecodeString(first)
	key, err2 := base64.RawStdEncoding.DecodeString(second)
	if !ours || !two || err1 != nil || err2 != nil || len(salt) != saltSize || len(key) != keySize {
		return nil, nil, errors.New("the stored password hash has an unknown format; set the password again")
	}
	return salt, key, nil
}
