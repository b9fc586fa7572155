package backup

import (
	"sync"
	"time"
)

// Status describes the progress of a backup.
type Status struct {
	Shipped     uint64        // last entry that is in the store
	LagEntries  uint64        // durable entries that are not in the store; 0 if SourceFolder.Last is nil
	Lag         time.Duration // time since the store last had all entries; 0 if LagEntries is 0
	LastSuccess time.Time     // last time when everything was shipped; zero before the first
	Errors      uint64
	Err         error // last error; nil after a success
}

// shippingProgress holds the shipper's progress under a lock, so that Status can read it from
// any goroutine.
type shippingProgress struct {
	mu       sync.Mutex
	shipped  uint64
	caughtUp time.Time // all entries logged before this time are in the store
	success  time.Time
	errors   uint64
	err      error
}

func (s *shippingProgress) setLastShipped(last uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shipped = last
}

// setCaughtUp records that the store has everything that existed at time `at`, and clears the
// last error.
func (s *shippingProgress) setCaughtUp(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caughtUp, s.success, s.err = at, at, nil
}

func (s *shippingProgress) countFailure(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errors++
	s.err = err
}

// Status returns the progress of the backup.
func (s *Shipper) Status() Status {
	known := uint64(0)
	if s.src.Last != nil {
		known = s.src.Last()
	}
	st := &s.status
	st.mu.Lock()
	defer st.mu.Unlock()
	now := Status{Shipped: st.shipped, LastSuccess: st.success, Errors: st.errors, Err: st.err}
	if known > st.shipped {
		now.LagEntries = known - st.shipped
		now.Lag = max(0, s.opt.now().Sub(st.caughtUp))
	}
	return now
}
