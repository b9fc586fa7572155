// Package passphrase hashes people's passwords and checks them.
//
// They are few and guessable, so each guess is to cost something: argon2id with 19 MiB
// and two passes, as OWASP recommends. That is a cost for us as well, and strangers say
// how often it arises. So two are computed at once at most; who comes then waits for a
// moment, and is sent away after it.
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

// Bounds of a password, in bytes.
const (
	Least = 12
	Most  = 1024
)

const (
	memory  = 19 << 10 // KiB
	passes  = 2
	lanes   = 1
	salt    = 16 // bytes
	size    = 32
	atOnce  = 2
	maxWait = 2 * time.Second
)

// head begins every hash, in the PHC form.
var head = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$", argon2.Version, memory, passes, lanes)

// ErrBusy is that too many are being computed.
var ErrBusy = errors.New("too many passwords are being checked at once; ask again")

// Keeper hashes and checks, a few at once. It is safe for many goroutines.
type Keeper struct {
	places chan struct{}
	wait   time.Duration
	nobody string // the hash of nobody's password
}

// New returns a keeper.
func New() *Keeper {
	k := &Keeper{places: make(chan struct{}, atOnce), wait: maxWait}
	k.nobody = encode(make([]byte, salt), make([]byte, size))
	return k
}

// Hash is what may be kept of a password. The error is ErrBusy.
func (k *Keeper) Hash(password string) (string, error) {
	var random [salt]byte
	_, _ = rand.Read(random[:])
	key, err := k.key(password, random[:])
	if err != nil {
		return "", err
	}
	return encode(random[:], key), nil
}

// Check tells whether a hash is of this password. An empty hash is nobody's: it is of
// no password, and that takes as long to find out. The error is ErrBusy, or that the
// hash is none of ours.
func (k *Keeper) Check(hash, password string) (bool, error) {
	somebody := hash != ""
	if !somebody {
		hash = k.nobody
	}
	random, want, err := decode(hash)
	if err != nil {
		return false, err
	}
	key, err := k.key(password, random)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(key, want) == 1 && somebody, nil
}

// key computes one once there is a place for it.
func (k *Keeper) key(password string, random []byte) ([]byte, error) {
	timer := time.NewTimer(k.wait)
	defer timer.Stop()
	select {
	case k.places <- struct{}{}:
	case <-timer.C:
		return nil, ErrBusy
	}
	defer func() { <-k.places }()
	return argon2.IDKey([]byte(password), random, passes, memory, lanes, size), nil
}

func encode(random, key []byte) string {
	text := base64.RawStdEncoding
	return head + text.EncodeToString(random) + "$" + text.EncodeToString(key)
}

func decode(hash string) (random, key []byte, err error) {
	rest, ours := strings.CutPrefix(hash, head)
	first, second, two := strings.Cut(rest, "$")
	random, err1 := base64.RawStdEncoding.DecodeString(first)
	key, err2 := base64.RawStdEncoding.DecodeString(second)
	if !ours || !two || err1 != nil || err2 != nil || len(random) != salt || len(key) != size {
		return nil, nil, errors.New("a password's hash has another form than this program writes")
	}
	return random, key, nil
}
