package state

import (
	"slices"
	"sync"

	"pingpost/engine/event"
)

// leadKeySlots holds the slots of the keys that leads are sealed with: the highest slot in the
// log, above which a start continues, and the slots whose keys must be erased.
//
// One lead alone uses a slot. At a start, a process takes slots above all slots in the
// log, and gives each one once. So two leads could share a slot only if another process
// logged the first one after that start, and there is no other process. No event names a
// slot that was taken but never logged.
//
// Erased slots stay in memory as long as the log: a start erases their keys again, because
// a crash may have come between event and erasure, or a restored backup of the keys may be
// older. Each costs eight bytes, and operators erase leads by hand.
type leadKeySlots struct {
	mu      sync.Mutex
	highest uint64
	erased  []uint64 // ascending
}

// HighestKeySlot returns the highest slot that a lead was sealed under.
func (s *State) HighestKeySlot() uint64 {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	return s.slots.highest
}

// ErasedKeySlots returns the slots whose keys must be erased, ascending.
func (s *State) ErasedKeySlots() []uint64 {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	return slices.Clone(s.slots.erased)
}

// IsKeySlotErased reports whether the key of a slot must be erased.
func (s *State) IsKeySlotErased(slot uint64) bool {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	_, found := slices.BinarySearch(s.slots.erased, slot)
	return found
}

// recordUsedSlot is idempotent, so a snapshot does not record how far it was applied.
func (l *leadKeySlots) recordUsedSlot(slot uint64) {
	if slot == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.highest = max(l.highest, slot)
}

// recordErasedSlots is idempotent as well.
func (l *leadKeySlots) recordErasedSlots(erased []uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, slot := range erased {
		l.highest = max(l.highest, slot)
	}
	l.erased = append(l.erased, erased...)
	slices.Sort(l.erased)
	l.erased = slices.Compact(l.erased)
}

// applyLeadsErased removes the body of an exhausted post. A post with further attempts is never
// erased.
func (s *State) applyLeadsErased(seq uint64, e *event.LeadsErased) {
	s.slots.recordErasedSlots(e.Slots)
	for i := range e.Leads {
		shard := s.leadShardOf(&e.Leads[i])
		shard.mu.Lock()
		if seq > shard.loaded {
			shard.replaceOpenPost(e.Leads[i], func(p *OpenPost) { p.Body = nil })
		}
		shard.mu.Unlock()
	}
}

func (l *leadKeySlots) encode(w *sectionEncoder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.writeUint(l.highest)
	w.writeUint(uint64(len(l.erased)))
	before := uint64(0)
	for _, slot := range l.erased {
		w.writeUint(slot - before)
		before = slot
	}
}

func (l *leadKeySlots) decode(r *sectionDecoder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.highest = r.readUint()
	slot := uint64(0)
	for range r.readCount() {
		slot += r.readUint()
		l.erased = append(l.erased, slot)
	}
}

// digest is zero until a slot is used, so that logs from before encryption keep their
// hash.
func (l *leadKeySlots) digest() (sum uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.highest != 0 {
		sum = newDigest(23).addWord(l.highest).sum()
	}
	for _, slot := range l.erased {
		sum += newDigest(24).addWord(slot).sum()
	}
	return sum
}
