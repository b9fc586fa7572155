// Package sealtest has keys in memory for tests of what seals: what is sealed there is
// really sealed, and nothing of it is left to chance.
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

// Safe is an engine.Sealer. It outlives the exchange that uses it, as a disk does;
// each start says by From where the log stands.
type Safe struct {
	mu     sync.Mutex
	next   uint64
	sealed uint64 // parts, for their nonces
	erased map[uint64]bool
	owner  market.LeadID // of what is being sealed
	busy   bool
	broken error
}

// New are keys that nothing was sealed with.
func New() *Safe { return &Safe{next: 1, erased: make(map[uint64]bool)} }

// From has slots be taken from above the highest that the log names.
func (s *Safe) From(highest uint64) *Safe {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = highest + 1
	return s
}

// Busy lets no key be ready, or some again.
func (s *Safe) Busy(busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = busy
}

// Break has Erase fail with an error, or work again where that is nil.
func (s *Safe) Break(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = err
}

// Recall has all keys be there again, as they are in a copy of a time before.
func (s *Safe) Recall() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.erased)
}

// Erased tells whether a key was dropped.
func (s *Safe) Erased(slot uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.erased[slot]
}

// Take is engine.Sealer's.
func (s *Safe) Take(key *[32]byte) (uint64, error) {
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
	*key = keyOf(slot)
	return slot, nil
}

func keyOf(slot uint64) [32]byte {
	var name [8]byte
	binary.BigEndian.PutUint64(name[:], slot)
	return sha256.Sum256(name[:])
}

// Seal is engine.Sealer's.
func (s *Safe) Seal(dst []byte, slot uint64, key *[32]byte, lead market.LeadID, plain []byte) []byte {
	if *key != keyOf(slot) {
		panic(fmt.Sprintf("BUG: lead %s is sealed under slot %d with another key", lead, slot))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed++
	s.owner = lead
	begin := len(dst)
	dst = binary.BigEndian.AppendUint64(append(dst, 0, 0, 0, 0), s.sealed)
	return aead(key).Seal(dst, dst[begin:], plain, s.owner[:])
}

// Open is engine.Sealer's.
func (s *Safe) Open(dst []byte, slot uint64, lead market.LeadID, sealed []byte) ([]byte, error) {
	if s.Erased(slot) {
		return nil, engine.ErrErased
	}
	if slot == 0 || len(sealed) < 12 {
		return nil, fmt.Errorf("nothing of lead %s is sealed under slot %d", lead, slot)
	}
	key := keyOf(slot)
	plain, err := aead(&key).Open(dst, sealed[:12], sealed[12:], lead[:])
	if err != nil {
		return nil, fmt.Errorf("what lead %s has under slot %d does not open: %w", lead, slot, err)
	}
	return plain, nil
}

func aead(key *[32]byte) cipher.AEAD {
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

// Erase is engine.Sealer's.
func (s *Safe) Erase(slots []uint64) error {
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
