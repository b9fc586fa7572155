package leadkeys

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync"

	"golang.org/x/crypto/chacha20poly1305"
)

// label names the kind of sealed data. Data that was sealed with another label does not
// open.
const label = "pingpost/contact/1"

// associatedData is authenticated together with a sealed part of a lead. It contains a label,
// the part's owner and the key's slot. A pool keeps it, because arguments of the cipher would
// otherwise be allocated on the heap for each call.
type associatedData [len(label) + 16 + 8]byte

var associatedDataPool = sync.Pool{New: func() any {
	b := new(associatedData)
	copy(b[:], label)
	return b
}}

func (b *associatedData) set(slot uint64, owner [16]byte) []byte {
	copy(b[len(label):], owner[:])
	binary.BigEndian.PutUint64(b[len(label)+16:], slot)
	return b[:]
}

const nonceSize = 12

// Overhead is the number of bytes that sealing adds.
const Overhead = nonceSize + 16

// newCipher returns ChaCha20-Poly1305 with this key. Each key seals only a few parts, and this cipher
// needs no preparation of a key. (Rejected: AES-256-GCM, which takes three times as long to prepare a
// key as to encrypt a part of a lead, and leaves 1.3 KB of garbage.)
func newCipher(key *Key) cipher.AEAD {
	c, err := chacha20poly1305.New(key[:])
	if err != nil {
		panic("BUG: ChaCha20 rejects a key of 32 bytes: " + err.Error())
	}
	return c
}

// newAESCipher returns AES-256-GCM with this key. Earlier programs sealed with it.
func newAESCipher(key *Key) cipher.AEAD {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("BUG: AES rejects a key of 32 bytes: " + err.Error())
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic("BUG: AES has no GCM: " + err.Error())
	}
	return gcm
}

// Seal encrypts plain with the key and appends a nonce and the output of
// ChaCha20-Poly1305 to dst. It binds the result to the slot and to the owner, so that Open rejects a part that was
// moved to another owner. One key may seal several parts, each with its own nonce.
func Seal(dst []byte, slot uint64, key *Key, owner [16]byte, plain []byte) []byte {
	begin := len(dst)
	dst = append(dst, make([]byte, nonceSize)...)
	nonce := dst[begin:]
	_, _ = rand.Read(nonce)
	b := associatedDataPool.Get().(*associatedData)
	dst = newCipher(key).Seal(dst, nonce, plain, b.set(slot, owner))
	associatedDataPool.Put(b)
	return dst
}

// Open decrypts the output of Seal and appends the plaintext to dst. It reads the key of the slot. The
// data do not tell which cipher sealed them, so Open tries both: a cipher accepts only data that it has sealed. The error is ErrErased if the key was erased. Otherwise it names the key file that is missing, unreadable
// or of the wrong size, or says that the data or its key is damaged.
func (s *KeyStore) Open(dst []byte, slot uint64, owner [16]byte, sealed []byte) ([]byte, error) {
	key, err := s.keyOrZerosIfErased(slot)
	if err != nil {
		return nil, err
	}
	if key == (Key{}) {
		return nil, fmt.Errorf("%w: the lead key in slot %d was erased", ErrErased, slot)
	}
	if len(sealed) < Overhead {
		return nil, fmt.Errorf("lead data sealed with the key in slot %d is too short: it is damaged", slot)
	}
	b := associatedDataPool.Get().(*associatedData)
	defer associatedDataPool.Put(b)
	nonce, sealed, data := sealed[:nonceSize], sealed[nonceSize:], b.set(slot, owner)
	plain, err := newCipher(&key).Open(dst, nonce, sealed, data)
	if err != nil {
		plain, err = newAESCipher(&key).Open(dst, nonce, sealed, data)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot decrypt lead data sealed with the key in slot %d: the data, or the key in file %q, is damaged", slot, s.keyFilePath(FirstSlotOfFile(slot)))
	}
	return plain, nil
}
