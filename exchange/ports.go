package exchange

import (
	"errors"
	"fmt"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/internal/clock"
	"pingpost/keys/leadkeys"
	"pingpost/outbound/buyer"
	"pingpost/server/httperror"
	"pingpost/wal"
)

// journal is the log as the engine knows it.
type logPort struct{ log *wal.Log }

// Append gives the log's errors the names that engine and server go by.
func (j logPort) Append(data []byte, w engine.Waiter) error {
	err := j.log.Append(data, w)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, wal.ErrBusy):
		return engine.ErrBusy
	case errors.Is(err, wal.ErrTooLarge):
		return httperror.ErrTooLarge
	}
	return err
}

// At reads a fact back.
func (j logPort) At(seq uint64) ([]byte, error) {
	entry, err := j.log.EntryAt(seq)
	if errors.Is(err, wal.ErrGone) {
		return nil, fmt.Errorf("%w: %w", engine.ErrGone, err)
	}
	return entry.Data, err
}

// mail is the buyers' client as the engine knows it: a deadline is by the
// exchange's clock here, and by the machine's there.
type buyerPort struct {
	client *buyer.Client
	clock  *clock.Clock
}

// Post makes one attempt.
func (m buyerPort) Post(req *market.PostRequest) market.PostResult {
	theirs := *req
	theirs.Deadline = m.clock.Real(req.Deadline)
	return m.client.Post(&theirs)
}

// Ping asks for one bid.
func (m buyerPort) Ping(req *market.PingRequest) market.PingResult {
	theirs := *req
	theirs.Deadline = m.clock.Real(req.Deadline)
	return m.client.Ping(&theirs)
}

// safe is the leads' keys as the engine knows them.
type keyPort struct{ keys *leadkeys.Slots }

// Take gives a lead its key.
func (s keyPort) Take(key *[32]byte) (uint64, error) {
	slot, err := s.keys.Take((*leadkeys.Key)(key))
	if errors.Is(err, leadkeys.ErrBusy) {
		return 0, engine.ErrBusy
	}
	return slot, err
}

// Seal seals a lead's contact part.
func (s keyPort) Seal(dst []byte, slot uint64, key *[32]byte, lead market.LeadID, plain []byte) []byte {
	return leadkeys.Seal(dst, slot, (*leadkeys.Key)(key), lead, plain)
}

// Open opens it.
func (s keyPort) Open(dst []byte, slot uint64, lead market.LeadID, sealed []byte) ([]byte, error) {
	plain, err := s.keys.Open(dst, slot, lead, sealed)
	if errors.Is(err, leadkeys.ErrErased) {
		return nil, engine.ErrErased
	}
	return plain, err
}

// Erase drops keys.
func (s keyPort) Erase(dropped []uint64) error { return s.keys.Erase(dropped) }
