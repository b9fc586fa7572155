package leadkeys

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync"
)

// label says what is sealed: what was sealed as something else does not open as this.
const label = "pingpost/contact/1"

// bound is what a sealed part is bound to besides its key: what it is, whose, and the
// slot. One is kept a goroutine, since what goes to an AEAD lies on the heap.
type bound [len(label) + 16 + 8]byte

var bounds = sync.Pool{New: func() any {
	b := new(bound)
	copy(b[:], label)
	return b
}}

func (b *bound) to(slot uint64, owner [16]byte) []byte {
	copy(b[len(label):], owner[:])
	binary.BigEndian.PutUint64(b[len(label)+16:], slot)
	return b[:]
}

const nonceSize = 12

// Overhead is how much longer a part is sealed.
const Overhead = nonceSize + 16

// aead is AES-256-GCM under one key. What it allocates, the rounds' keys and a table,
// the library has no way to do without.
func aead(key *Key) cipher.AEAD {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("BUG: a key of 32 bytes is none for AES: " + err.Error())
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic("BUG: AES has no GCM: " + err.Error())
	}
	return gcm
}

// Seal appends what it seals to dst: a nonce, and AES-256-GCM's output. The owner is
// named so that a part that was moved to another does not open there. One key may seal
// some parts, each under a nonce of its own.
func Seal(dst []byte, slot uint64, key *Key, owner [16]byte, plain []byte) []byte {
	begin := len(dst)
	dst = append(dst, make([]byte, nonceSize)...)
	nonce := dst[begin:]
	_, _ = rand.Read(nonce)
	b := bounds.Get().(*bound)
	dst = aead(key).Seal(dst, nonce, plain, b.to(slot, owner))
	bounds.Put(b)
	return dst
}

// Open appends what Seal was given. The error is ErrErased where the key was dropped;
// else it says what file is missing, or that the part or its key is damaged.
func (s *Slots) Open(dst []byte, slot uint64, owner [16]byte, sealed []byte) ([]byte, error) {
	key, err := s.key(slot)
	if err != nil {
		return nil, err
	}
	if key == (Key{}) {
		return nil, fmt.Errorf("%w: the key of slot %d was dropped", ErrErased, slot)
	}
	if len(sealed) < Overhead {
		return nil, fmt.Errorf("what is sealed under slot %d is too short", slot)
	}
	b := bounds.Get().(*bound)
	defer bounds.Put(b)
	plain, err := aead(&key).Open(dst, sealed[:nonceSize], sealed[nonceSize:], b.to(slot, owner))
	if err != nil {
		return nil, fmt.Errorf("what is sealed under slot %d does not open: it, or the key in %q, is damaged", slot, s.path(firstOf(slot)))
	}
	return plain, nil
}
