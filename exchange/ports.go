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

// logPort adapts the log to the engine's port.
type logPort struct{ log *wal.Log }

// Append maps the log's errors to those of the engine and the server.
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

// At reads an entry's data.
func (j logPort) At(seq uint64) ([]byte, error) {
	entry, err := j.log.EntryAt(seq)
	if errors.Is(err, wal.ErrGone) {
		return nil, fmt.Errorf("%w: %w", engine.ErrGone, err)
	}
	return entry.Data, err
}

// buyerPort adapts the buyers' client to the engine's port. It converts deadlines from the
// exchange's clock to the machine's.
type buyerPort struct {
	client *buyer.Client
	clock  *clock.Clock
}

// Post makes one attempt to post a lead.
func (m buyerPort) Post(req *market.PostRequest) market.PostResult {
	theirs := *req
	theirs.Deadline = m.clock.ToWallClock(req.Deadline)
	return m.client.Post(&theirs)
}

// Ping requests one bid.
func (m buyerPort) Ping(req *market.PingRequest) market.PingResult {
	theirs := *req
	theirs.Deadline = m.clock.ToWallClock(req.Deadline)
	return m.client.Ping(&theirs)
}

// keyPort adapts the leads' keys to the engine's port.
type keyPort struct{ keys *leadkeys.KeyStore }

// Take assigns a key to a new lead, and returns its slot.
func (s keyPort) Take(key *[32]byte) (uint64, error) {
	slot, err := s.keys.Next((*leadkeys.Key)(key))
	if errors.Is(err, leadkeys.ErrBusy) {
		return 0, engine.ErrBusy
	}
	return slot, err
}

// Seal encrypts a lead's contact part.
func (s keyPort) Seal(dst []byte, slot uint64, key *[32]byte, lead market.LeadID, plain []byte) []byte {
	return leadkeys.Seal(dst, slot, (*leadkeys.Key)(key), lead, plain)
}

// Open decrypts a lead's contact part.
func (s keyPort) Open(dst []byte, slot uint64, lead market.LeadID, sealed []byte) ([]byte, error) {
	plain, err := s.keys.Open(dst, slot, lead, sealed)
	if errors.Is(err, leadkeys.ErrErased) {
		return nil, engine.ErrErased
	}
	return plain, err
}

// Erase drops keys for good.
func (s keyPort) Erase(dropped []uint64) error { return s.keys.Erase(dropped) }
