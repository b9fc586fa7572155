package backup

import (
	"sync"
	"time"
)

// A Status says how far a backup is.
type Status struct {
	Shipped     uint64        // last entry that is in the store
	LagEntries  uint64        // that are durable and not in the store
	Lag         time.Duration // how much would be lost with the disk; 0 where nothing would
	LastSuccess time.Time     // when all that there was had been shipped; zero before
	Errors      uint64
	Err         error // the last one; nil once all went well again
}

// status is what Status tells, for many goroutines.
type status struct {
	mu       sync.Mutex
	shipped  uint64
	known    uint64
	caughtUp time.Time // what was logged before has been shipped
	success  time.Time
	errors   uint64
	err      error
}

func (s *status) reached(shipped, known uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shipped, s.known = shipped, known
}

// caught says that all that there was at a time has been shipped.
func (s *status) caught(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caughtUp, s.success, s.err = at, at, nil
}

func (s *status) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errors++
	s.err = err
}

// Status tells how far the backup is.
func (s *Shipper) Status() Status {
	known := uint64(0)
	if s.src.Last != nil {
		known = s.src.Last()
	}
	st := &s.status
	st.mu.Lock()
	defer st.mu.Unlock()
	known = max(known, st.known)
	now := Status{Shipped: st.shipped, LastSuccess: st.success, Errors: st.errors, Err: st.err}
	if known > st.shipped {
		now.LagEntries = known - st.shipped
		now.Lag = max(0, s.opt.now().Sub(st.caughtUp))
	}
	return now
}
