package state

import (
	"slices"
	"sync"

	"pingpost/engine/event"
)

// leadEncryptionKeySlots holds the slots of the keys that encrypt (seal) the leads. A slot is a key's
// number. It holds the highest slot in the log, above which a start continues, and the slots
// whose keys must be erased.
//
// Each lead has a slot of its own. At a start, a process takes slots above all slots in the log,
// and gives each one once. So two leads could share a slot only if another process logged the
// first one after that start, and there is no other process. No event names a slot that was taken
// but never logged.
//
// Erased slots stay in memory as long as the log. A start erases their keys again, because a
// crash may have come between event and erasure, or a restored backup of the keys may be older.
// Each costs eight bytes, and operators erase leads by hand.
type leadEncryptionKeySlots struct {
	mu      sync.Mutex
	highest uint64
	erased  []uint64 // ascending
}

// HighestEncryptionKeySlot returns the highest slot in the log. At a start, new leads get slots
// above it.
func (s *State) HighestEncryptionKeySlot() uint64 {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	return s.slots.highest
}

// ErasedEncryptionKeySlots returns the slots of erased leads, ascending. A start erases the keys in
// these slots again.
func (s *State) ErasedEncryptionKeySlots() []uint64 {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	return slices.Clone(s.slots.erased)
}

// IsEncryptionKeySlotErased reports whether the lead with this slot was erased, so that its key
// must not be used.
func (s *State) IsEncryptionKeySlotErased(slot uint64) bool {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	_, found := slices.BinarySearch(s.slots.erased, slot)
	return found
}

// recordUsedSlot raises the highest slot to slot if it is higher; zero means no key. Repeats have
// no effect, so a replay need not know whether a snapshot contains the event.
func (l *leadEncryptionKeySlots) recordUsedSlot(slot uint64) {
	if slot == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.highest = max(l.highest, slot)
}

// recordErasedSlots adds slots whose keys must be erased. Repeats have no effect, so a replay
// need not know whether a snapshot contains the event.
func (l *leadEncryptionKeySlots) recordErasedSlots(erased []uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, slot := range erased {
		l.highest = max(l.highest, slot)
	}
	l.erased = append(l.erased, erased...)
	slices.Sort(l.erased)
	l.erased = slices.Compact(l.erased)
}

// applyLeadPersonalDataErased records the erased slots, and removes the personal data of the leads' open
// posts. The engine erases no lead whose post is still attempted, so these posts wait for an
// operator.
func (s *State) applyLeadPersonalDataErased(seq uint64, e *event.PersonalDataOfLeadsErased) {
	s.slots.recordErasedSlots(e.Slots)
	for i := range e.Leads {
		shard := s.leadShardOf(&e.Leads[i])
		shard.mu.Lock()
		if seq > shard.loaded {
			shard.replacePostByEditedCopy(e.Leads[i], func(p *UnfinishedPost) { p.Body = nil })
		}
		shard.mu.Unlock()
	}
}

func (l *leadEncryptionKeySlots) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	l.mu.Lock()
	defer l.mu.Unlock()
	encodeOrDecodeUvarint(c, &l.highest)
	before := uint64(0)
	encodeOrDecodeList(c, &l.erased, func(slot *uint64) {
		step := *slot - before
		encodeOrDecodeUvarint(c, &step)
		before += step
		*slot = before
	})
}

// sumOfEntryHashes returns the slots' part of State.Hash. It is zero until a slot is used, so that logs
// from before encryption keep their hash.
func (l *leadEncryptionKeySlots) sumOfEntryHashes() (sum uint64) {
	if l.highest != 0 {
		sum = newRunningHash(23).addWord(l.highest).sum()
	}
	for _, slot := range l.erased {
		sum += newRunningHash(24).addWord(slot).sum()
	}
	return sum
}
