// Package sealtest has an in-memory engine.Sealer for tests. It encrypts, and is
// deterministic.
package sealtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"

	"pingpost/engine"
	"pingpost/engine/market"
)

// InMemorySealer is an engine.Sealer. It outlives the exchange that uses it, as a disk does;
// StartAboveSlot gives it the log's highest slot at each start.
type InMemorySealer struct {
	mu     sync.Mutex
	next   uint64
	sealed uint64 // number of encrypted parts, for their nonces
	erased map[uint64]bool
	owner  market.LeadID // lead that Seal encrypts
	busy   bool
	broken error
}

// New returns a Sealer without used keys.
func New() *InMemorySealer { return &InMemorySealer{next: 1, erased: make(map[uint64]bool)} }

// StartAboveSlot makes the next slot the one above the highest slot in the log.
func (s *InMemorySealer) StartAboveSlot(highestUsedSlot uint64) *InMemorySealer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = highestUsedSlot + 1
	return s
}

// MakeTakeUnusedKeyFail makes TakeUnusedKey fail with ErrBusy, or succeed again.
func (s *InMemorySealer) MakeTakeUnusedKeyFail(fail bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = fail
}

// SetEraseKeysError makes EraseKeys fail with an error, or succeed again if it is nil.
func (s *InMemorySealer) SetEraseKeysError(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = err
}

// RestoreErasedKeys restores all erased keys, as an old backup does.
func (s *InMemorySealer) RestoreErasedKeys() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.erased)
}

// IsKeyErased reports whether a key was erased.
func (s *InMemorySealer) IsKeyErased(slot uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.erased[slot]
}

// TakeUnusedKey implements engine.Sealer.
func (s *InMemorySealer) TakeUnusedKey(key *[32]byte) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy {
		return 0, engine.ErrBusy
	}
	for s.erased[s.next] {
		s.next++
	}
	slot := s.next
	s.next++
	*key = deriveKey(slot)
	return slot, nil
}

func deriveKey(slot uint64) [32]byte {
	var name [8]byte
	binary.BigEndian.PutUint64(name[:], slot)
	return sha256.Sum256(name[:])
}

// Seal implements engine.Sealer.
func (s *InMemorySealer) Seal(dst []byte, slot uint64, key *[32]byte, lead market.LeadID, plain []byte) []byte {
	if *key != deriveKey(slot) {
		panic(fmt.Sprintf("BUG: lead %s is sealed under slot %d with another key", lead, slot))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed++
	s.owner = lead
	begin := len(dst)
	dst = binary.BigEndian.AppendUint64(append(dst, 0, 0, 0, 0), s.sealed)
	return newAEAD(key).Seal(dst, dst[begin:], plain, s.owner[:])
}

// Open implements engine.Sealer.
func (s *InMemorySealer) Open(dst []byte, slot uint64, lead market.LeadID, sealed []byte) ([]byte, error) {
	if s.IsKeyErased(slot) {
		return nil, engine.ErrErased
	}
	if slot == 0 || len(sealed) < 12 {
		return nil, fmt.Errorf("lead %s has no sealed part under slot %d", lead, slot)
	}
	key := deriveKey(slot)
	plain, err := newAEAD(&key).Open(dst, sealed[:12], sealed[12:], lead[:])
	if err != nil {
		return nil, fmt.Errorf("cannot open the sealed part of lead %s under slot %d: %w", lead, slot, err)
	}
	return plain, nil
}

func newAEAD(key *[32]byte) cipher.AEAD {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("BUG: " + err.Error())
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return gcm
}

// EraseKeys implements engine.Sealer.
func (s *InMemorySealer) EraseKeys(slots []uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return s.broken
	}
	for _, slot := range slots {
		s.erased[slot] = true
	}
	return nil
}
