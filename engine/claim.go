package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// Idempotency keys are known by owner and endpoint; this is the ingest's.
const endpointIngest = 1

// claimKey looks the idempotency key up. Where it was used it returns the first
// answer, waiting for one that is under way; where it is new it is claimed.
func (in *ingest) claimKey() (answer Answer, found bool, err error) {
	e := in.engine
	key, fingerprint := in.hashKey()
	for {
		keyed := e.state.ClaimKey(&in.hold, key, fingerprint, in.now)
		switch {
		case keyed.Wait != nil:
			if in.wait(keyed.Wait) != nil {
				return Answer{}, true, ErrUnavailable
			}
		case keyed.Lead.IsZero():
			in.fact.Idempotency = event.Idempotency{Key: key, Print: fingerprint, Until: in.now + int64(e.opt.Idempotency)}
			return Answer{}, false, nil
		case !keyed.Same:
			return Answer{}, true, &Refusal{Code: KeyReused}
		default:
			answer, err = in.repeat(keyed.Lead)
			return answer, true, err
		}
	}
}

// hashKey hashes the key with its owner and endpoint, and the body.
func (in *ingest) hashKey() (key [16]byte, fingerprint uint64) {
	buf := append(in.body[:0], in.engine.opt.Secret[:]...)
	buf = append(buf, 'k', endpointIngest)
	buf = binary.BigEndian.AppendUint32(buf, uint32(in.req.Supplier.Ref))
	buf = append(buf, in.req.Key...)
	sum := sha256.Sum256(buf)
	copy(key[:], sum[:])
	buf = append(append(buf[:len(in.engine.opt.Secret)], 'b'), in.req.Body...)
	sum = sha256.Sum256(buf)
	in.body = buf[:0]
	return key, binary.LittleEndian.Uint64(sum[:])
}

// repeat is the answer that the key's first use was given. Where that use is
// still waiting for its buyer, this one waits with it.
func (in *ingest) repeat(id market.LeadID) (Answer, error) {
	e := in.engine
	if answered := e.couriers.answered(id); answered != nil && in.wait(answered) != nil {
		return Answer{}, ErrUnavailable
	}
	lead, ok := e.state.Lead(id)
	if !ok || lead.Answer == state.AnswerNone {
		return Answer{}, ErrUnavailable
	}
	return e.answerOf(&lead), nil
}

// claimDups claims the values by which a duplicate of this lead is known. A
// value that only a lead in flight has is waited for.
func (in *ingest) claimDups(scope uint64) (market.Reason, error) {
	e := in.engine
	rule := &in.open.Campaign.Duplicates
	in.dupKeys = rule.Keys(&in.lead, scope, &e.opt.Secret, in.dupKeys[:0])
	for {
		room, first, wait := e.state.ClaimDups(&in.hold, in.dupKeys, in.now)
		switch room {
		case state.RoomTaken:
			in.rememberDups(rule.Window)
			return market.ReasonNone, nil
		case state.RoomFull:
			in.fact.DuplicateOf = first
			return market.ReasonDuplicate, nil
		}
		if err := in.wait(wait); err != nil {
			return late(err)
		}
	}
}

func (in *ingest) rememberDups(window int64) {
	sale := &in.fact.Sale
	sale.Dups = sale.Dups[:0]
	for _, key := range in.dupKeys {
		sale.Dups = append(sale.Dups, event.Dup{Key: key, Until: in.now + window})
	}
}

// errCeiling says that the answer is due.
var errCeiling = errors.New("the ceiling came first")

// late is what a wait that failed means for the lead. When the exchange stops
// there is no decision: the lead may be sent again to one that runs.
func late(err error) (market.Reason, error) {
	if errors.Is(err, errCeiling) {
		return market.ReasonTimeout, nil
	}
	return market.ReasonNone, err
}

// wait waits for something in flight to end, within the ceiling, and sets the
// decision's time anew. The error is errCeiling, or ErrUnavailable where the
// exchange stops.
func (in *ingest) wait(ended <-chan struct{}) error {
	e := in.engine
	left := in.ceiling() - e.opt.Clock.Now()
	if left <= 0 {
		return errCeiling
	}
	fired, stop := e.opt.Clock.Timer(time.Duration(left))
	defer stop()
	select {
	case <-ended:
		in.now = max(in.now, e.opt.Clock.Now())
		return nil
	case <-fired:
		return errCeiling
	case <-e.stop:
		return ErrUnavailable
	}
}

// ceiling is when the answer is due.
func (in *ingest) ceiling() int64 { return in.req.Received + int64(in.engine.opt.Ceiling) }
