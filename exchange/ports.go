package exchange

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"pingpost/cluster"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/internal/clock"
	"pingpost/keys/leadkeys"
	"pingpost/outbound/buyer"
	"pingpost/server/httperror"
	"pingpost/wal"
)

// engineLogAdapter gives the engine access to the log through the engine's own interface.
type engineLogAdapter struct{ log *wal.Log }

// Append queues data for the log, and waiter learns when it is durable. It translates the log's
// errors: engine.ErrBusy for a full queue, httperror.ErrTooLarge for too much data.
func (j engineLogAdapter) Append(data []byte, waiter engine.CommitWaiter) error {
	return engineLogError(j.log.Append(data, waiter))
}

// At returns the data of the log entry seq. The error is engine.ErrGone if the log has removed
// the entry because of its age.
func (j engineLogAdapter) At(seq uint64) ([]byte, error) {
	entry, err := j.log.EntryAt(seq)
	if errors.Is(err, wal.ErrGone) {
		return nil, fmt.Errorf("%w: %w", engine.ErrGone, err)
	}
	return entry.Data, err
}

// clusterLogAdapter gives the engine of a leader access to the replicated log.
type clusterLogAdapter struct{ log *cluster.Log }

// Append queues data for the log, like engineLogAdapter. The result is engine.ErrNotLeader if no node will
// ever have the entry, because this node lost the leadership.
func (a clusterLogAdapter) Append(data []byte, waiter engine.CommitWaiter) error {
	return engineLogError(a.log.Append(data, &clusterWaiter{waiter}))
}

// clusterWaiter passes the result of an entry to the engine, in the engine's errors.
type clusterWaiter struct{ engine.CommitWaiter }

// Failed passes on the reason why the entry has no result.
func (w *clusterWaiter) Failed(err error) { w.CommitWaiter.Failed(engineLogError(err)) }

// Prepare prepares the entry before it is applied.
func (w *clusterWaiter) Prepare() {
	if p, ok := w.CommitWaiter.(interface{ Prepare() }); ok {
		p.Prepare()
	}
}

// engineLogError translates the errors of the log to those of the engine.
func engineLogError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, wal.ErrBusy):
		return engine.ErrBusy
	case errors.Is(err, wal.ErrTooLarge):
		return httperror.ErrTooLarge
	case errors.Is(err, cluster.ErrNotLeader):
		return engine.ErrNotLeader
	case errors.Is(err, cluster.ErrUnknown):
		return engine.ErrLeadershipLost
	}
	return err
}

// engineBuyersAdapter gives the engine access to the buyers' client through the engine's own interface.
// It converts deadlines from the exchange's clock to the machine's clock, which network
// connections use.
//
// A node that may no longer decide sends nothing: another node may be the leader and send the same.
type engineBuyersAdapter struct {
	client      *buyer.Client
	clock       *clock.Clock
	mayDecideBy func(deadline time.Time) bool
}

// Post makes one attempt to post a lead to a buyer, and returns its result.
func (m engineBuyersAdapter) Post(req *market.BuyerPostRequest) market.BuyerPostResult {
	theirs := *req
	theirs.Deadline = m.clock.ToWallClock(req.Deadline)
	if !m.mayDecideBy(theirs.Deadline) {
		return market.BuyerPostResult{Verdict: market.VerdictNotSent, Fault: market.FaultConnect}
	}
	return m.client.Post(&theirs)
}

// Ping asks one buyer for a bid, and returns the bid or the reason why there is none.
func (m engineBuyersAdapter) Ping(req *market.BuyerPingRequest) market.BuyerPingResult {
	theirs := *req
	theirs.Deadline = m.clock.ToWallClock(req.Deadline)
	if !m.mayDecideBy(theirs.Deadline) {
		return market.BuyerPingResult{Outcome: market.OutcomeError, Fault: market.FaultConnect}
	}
	return m.client.Ping(&theirs)
}

// leadKeysForEngine gives the engine access to the leads' encryption keys through the engine's own
// interface.
type leadKeysForEngine struct {
	keys   *leadkeys.KeyStore
	decide *atomic.Bool // whether this node decides; otherwise it issues no keys
}

// TakeUnusedKey reserves an unused key for a new lead. It copies the key to newKey and returns the
// key's slot number. The error is engine.ErrBusy if no key is ready, or engine.ErrNotLeader.
func (s leadKeysForEngine) TakeUnusedKey(newKey *[32]byte) (uint64, error) {
	slot, err := s.keys.TakeUnusedKey((*leadkeys.Key)(newKey))
	switch {
	case !errors.Is(err, leadkeys.ErrBusy):
		return slot, err
	case !s.decide.Load():
		return 0, engine.ErrNotLeader
	}
	return 0, engine.ErrBusy
}

// Seal encrypts a lead's contact data with its key, and appends the result to dst.
func (s leadKeysForEngine) Seal(dst []byte, slot uint64, key *[32]byte, lead market.LeadID, plain []byte) []byte {
	return leadkeys.Seal(dst, slot, (*leadkeys.Key)(key), lead, plain)
}

// Open decrypts a lead's contact data with the key in slot, and appends it to dst. The error is
// engine.ErrErased if the key was erased.
func (s leadKeysForEngine) Open(dst []byte, slot uint64, lead market.LeadID, sealed []byte) ([]byte, error) {
	plain, err := s.keys.Open(dst, slot, lead, sealed)
	if errors.Is(err, leadkeys.ErrErased) {
		return nil, engine.ErrErased
	}
	return plain, err
}

// EraseKeys overwrites the keys in these slots for good. The contact data of their leads is
// unreadable from then on.
func (s leadKeysForEngine) EraseKeys(slots []uint64) error { return s.keys.Erase(slots) }
