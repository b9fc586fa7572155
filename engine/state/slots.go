package state

import (
	"slices"
	"sync"

	"pingpost/engine/event"
)

// slots are the places of the keys that leads are sealed with: the highest that a
// fact has named, above which a start goes on, and those whose keys are to be gone.
//
// A slot is named by one lead alone. A process takes them upwards from above all that
// the log names when it starts, and gives each once; so two leads could have the same
// only if the first of them came into the log after that start by another process, of
// which there is none. What was taken and never logged is named by nobody.
//
// Erased ones are kept for as long as the log: a start drops their keys once more, as
// a crash may have come between the fact and that, or a backup of the keys may be of a
// time before. Eight bytes each; an operator erases by hand.
type slots struct {
	mu      sync.Mutex
	highest uint64
	erased  []uint64 // ascending
}

// HighestSlot is the highest slot that any lead was sealed under.
func (s *State) HighestSlot() uint64 {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	return s.slots.highest
}

// ErasedSlots are those whose keys are to be gone, ascending.
func (s *State) ErasedSlots() []uint64 {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	return slices.Clone(s.slots.erased)
}

// SlotErased tells whether the key of a slot is to be gone.
func (s *State) SlotErased(slot uint64) bool {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	_, found := slices.BinarySearch(s.slots.erased, slot)
	return found
}

// use is idempotent, so a snapshot need not say up to where it was done.
func (l *slots) use(slot uint64) {
	if slot == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.highest = max(l.highest, slot)
}

// erase is idempotent too.
func (l *slots) erase(erased []uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, slot := range erased {
		l.highest = max(l.highest, slot)
	}
	l.erased = append(l.erased, erased...)
	slices.Sort(l.erased)
	l.erased = slices.Compact(l.erased)
}

// applyErased drops what memory has of a person: the body of a post whose tries are
// used up. One that is still being tried is never erased.
func (s *State) applyErased(seq uint64, e *event.LeadsErased) {
	s.slots.erase(e.Slots)
	for i := range e.Leads {
		shard := s.leadShard(&e.Leads[i])
		shard.mu.Lock()
		if seq > shard.loaded {
			shard.changePost(e.Leads[i], func(p *Post) { p.Body = nil })
		}
		shard.mu.Unlock()
	}
}

func (l *slots) write(w *writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.uint(l.highest)
	w.uint(uint64(len(l.erased)))
	before := uint64(0)
	for _, slot := range l.erased {
		w.uint(slot - before)
		before = slot
	}
}

func (l *slots) read(r *reader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.highest = r.uint()
	slot := uint64(0)
	for range r.count() {
		slot += r.uint()
		l.erased = append(l.erased, slot)
	}
}

// digest is nothing while no slot was used, so that the hash of a log of a time before
// is what it was.
func (l *slots) digest() (sum uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.highest != 0 {
		sum = newDigest(23).word(l.highest).sum()
	}
	for _, slot := range l.erased {
		sum += newDigest(24).word(slot).sum()
	}
	return sum
}
