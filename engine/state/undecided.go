package state

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"pingpost/engine/market"
)

// undecided are the returns that wait for an operator's word, by lead. There are few
// and an operator asks for all of them, so they are found here and not by looking
// through the leads; and a return can be decided when its lead has left memory.
//
// One that nobody has decided for longer than months are kept is forgotten, so they
// do not pile up for ever: when the first one of a later day comes.
type undecided struct {
	mu     sync.Mutex
	byLead map[market.LeadID]Waiting
	swept  int64 // day of the last look for those, counted from 1970
}

// Waiting is a return that waits.
type Waiting struct {
	Seq uint64 // of the fact that asked for it
	At  int64  // that fact's batch time, Unix nanoseconds
}

// Waiting is a lead's return that waits for an operator's word.
func (s *State) Waiting(lead market.LeadID) (Waiting, bool) {
	s.undecided.mu.Lock()
	defer s.undecided.mu.Unlock()
	w, ok := s.undecided.byLead[lead]
	return w, ok
}

// WaitingReturns is how many returns wait.
func (s *State) WaitingReturns() int {
	s.undecided.mu.Lock()
	defer s.undecided.mu.Unlock()
	return len(s.undecided.byLead)
}

// WaitingLeads are the leads whose returns wait, the oldest first.
func (s *State) WaitingLeads() []market.LeadID {
	s.undecided.mu.Lock()
	leads := make([]market.LeadID, 0, len(s.undecided.byLead))
	for lead := range s.undecided.byLead {
		leads = append(leads, lead)
	}
	s.undecided.mu.Unlock()
	slices.SortFunc(leads, func(a, b market.LeadID) int { return bytes.Compare(a[:], b[:]) })
	return leads
}

// ask enters a return.
func (w *undecided) ask(lead market.LeadID, seq uint64, at int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if day := at / int64(24*time.Hour); day > w.swept {
		w.swept = day
		for other, asked := range w.byLead {
			if asked.At < at-monthKeep {
				delete(w.byLead, other)
			}
		}
	}
	w.byLead[lead] = Waiting{seq, at}
}

// decide takes one out.
func (w *undecided) decide(lead market.LeadID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.byLead, lead)
}

func (w *undecided) write(out *writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out.int(w.swept)
	out.uint(uint64(len(w.byLead)))
	for lead, asked := range w.byLead {
		out.raw(lead[:])
		out.uint(asked.Seq)
		out.int(asked.At)
	}
}

func (w *undecided) read(r *reader) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.swept = r.int()
	for range r.count() {
		var lead market.LeadID
		copy(lead[:], r.raw(len(lead)))
		asked := Waiting{r.uint(), r.int()}
		w.byLead[lead] = asked
	}
}

func (w *undecided) digest() (sum uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for lead, asked := range w.byLead {
		sum += newDigest(21).wordsOf((*[16]byte)(&lead)).word(asked.Seq).word(uint64(asked.At)).sum()
	}
	return sum
}
