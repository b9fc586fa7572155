package state

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"pingpost/engine/market"
)

// pendingReturns holds the returns that await an operator's approval, by lead. They are few and
// operators list all of them, so they are not in the rows of leads. Another reason: an operator
// can decide a return after its lead has left memory.
//
// A pending return older than monthRetention is dropped when the first one of a later day
// arrives, so that the table stays bounded.
type pendingReturns struct {
	mu        sync.Mutex
	byLead    map[market.LeadID]PendingReturnSeqAndTime
	lastSweep int64 // day of the last removal, counted from 1970
}

// PendingReturnSeqAndTime names the event with which a buyer requested a return that awaits an operator's
// approval.
type PendingReturnSeqAndTime struct {
	Seq uint64 // of the event that requested it
	At  int64  // time of that event's batch, Unix nanoseconds
}

// PendingReturnRequest returns the lead's return that awaits an operator's approval, or false without
// one.
func (s *State) PendingReturnRequest(lead market.LeadID) (request PendingReturnSeqAndTime, found bool) {
	s.pendingReturns.mu.Lock()
	defer s.pendingReturns.mu.Unlock()
	w, ok := s.pendingReturns.byLead[lead]
	return w, ok
}

// PendingReturnCount returns the number of returns that await an operator's approval.
func (s *State) PendingReturnCount() int {
	s.pendingReturns.mu.Lock()
	defer s.pendingReturns.mu.Unlock()
	return len(s.pendingReturns.byLead)
}

// LeadsWithPendingReturn returns the leads whose return awaits an operator's approval, sorted by lead
// id, which begins with the lead's time.
func (s *State) LeadsWithPendingReturn() []market.LeadID {
	s.pendingReturns.mu.Lock()
	leads := make([]market.LeadID, 0, len(s.pendingReturns.byLead))
	for lead := range s.pendingReturns.byLead {
		leads = append(leads, lead)
	}
	s.pendingReturns.mu.Unlock()
	slices.SortFunc(leads, func(a, b market.LeadID) int { return bytes.Compare(a[:], b[:]) })
	return leads
}

// add stores the lead's return, which the event seq requested at batchUnixNanos. The
// first call on a new day drops returns older than monthRetention.
func (w *pendingReturns) add(lead market.LeadID, seq uint64, batchUnixNanos int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if day := batchUnixNanos / int64(24*time.Hour); day > w.lastSweep {
		w.lastSweep = day
		for other, asked := range w.byLead {
			if asked.At < batchUnixNanos-monthRetention {
				delete(w.byLead, other)
			}
		}
	}
	w.byLead[lead] = PendingReturnSeqAndTime{seq, batchUnixNanos}
}

// remove deletes the lead's return after an operator has decided it.
func (w *pendingReturns) remove(lead market.LeadID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.byLead, lead)
}

func (w *pendingReturns) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	encodeOrDecodeZigzag(c, &w.lastSweep)
	encodeOrDecodeMap(c, w.byLead, func(lead *market.LeadID, asked *PendingReturnSeqAndTime) {
		encodeOrDecodeFixedBytes(c, lead[:])
		encodeOrDecodeUvarint(c, &asked.Seq)
		encodeOrDecodeZigzag(c, &asked.At)
	})
}

func (w *pendingReturns) sumOfEntryHashes() (sum uint64) {
	for lead, asked := range w.byLead {
		sum += newRunningHash(21).addID16((*[16]byte)(&lead)).addWord(asked.Seq).addWord(uint64(asked.At)).sum()
	}
	return sum
}
