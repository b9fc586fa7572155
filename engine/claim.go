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

// Idempotency keys are known by owner and endpoint. The numbers are hashed into
// keys that the log has, so none is ever used again.
const (
	endpointIngest       = 1
	endpointPing         = 2 // POST /v1/ping
	endpointAvailability = 3 // POST /api/v1/ping
	endpointPost         = 4 // POST /v1/post
	endpointStatus       = 5 // POST /v1/leads/{id}/status
	endpointStatuses     = 6 // POST /v1/leads/status
)

// claimKey looks the idempotency key up. Where it was used it returns the first
// answer, waiting for one that is under way; where it is new it is claimed.
func (in *ingest) claimKey() (answer Answer, found bool, err error) {
	lead, err := in.useKey(endpointIngest)
	if err != nil || lead.IsZero() {
		return Answer{}, err != nil, err
	}
	answer, err = in.repeat(lead)
	return answer, true, err
}

// useKey is the lead that the key's first use made, once that is decided; zero
// where the key is new, and claimed from now on.
func (in *ingest) useKey(endpoint byte) (first market.LeadID, err error) {
	e := in.engine
	key, fingerprint := in.hashKey(endpoint)
	for {
		keyed := e.state.ClaimKey(&in.hold, key, fingerprint, in.now)
		switch {
		case keyed.Wait != nil:
			if in.wait(keyed.Wait) != nil {
				return first, ErrUnavailable
			}
		case keyed.Lead.IsZero():
			in.fact.Idempotency = event.Idempotency{Key: key, Print: fingerprint, Until: in.now + int64(e.opt.Idempotency)}
			return first, nil
		case !keyed.SameBody:
			return first, &Refusal{Code: KeyReused}
		default:
			return keyed.Lead, nil
		}
	}
}

func (in *ingest) hashKey(endpoint byte) (key [16]byte, fingerprint uint64) {
	req := in.req
	key, fingerprint, in.body = in.engine.hashKey(in.body, endpoint, req.Supplier.Ref, req.Key, req.Body, in.test)
	return key, fingerprint
}

// hashKey hashes a key with its owner and endpoint, and the body that came under
// it, which as a test is another request than in earnest. The room is for it to
// write in; it comes back, maybe grown.
func (e *Engine) hashKey(room []byte, endpoint byte, owner market.Ref, key, body []byte, test bool) (hash [16]byte, fingerprint uint64, grown []byte) {
	room = append(room[:0], e.opt.Secret[:]...)
	room = append(room, 'k', endpoint)
	room = binary.BigEndian.AppendUint32(room, uint32(owner))
	room = append(room, key...)
	sum := sha256.Sum256(room)
	copy(hash[:], sum[:])
	kind := byte('b')
	if test {
		kind = 't'
	}
	room = append(append(room[:len(e.opt.Secret)], kind), body...)
	sum = sha256.Sum256(room)
	return hash, binary.LittleEndian.Uint64(sum[:]), room[:0]
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
		room, first, wait := e.state.ClaimDuplicates(&in.hold, in.dupKeys, in.now)
		switch room {
		case state.Reserved:
			in.rememberDups(rule.Window)
			return market.ReasonNone, nil
		case state.Full:
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
	err := in.engine.await(ended, in.ceiling())
	if err == nil {
		in.now = max(in.now, in.engine.opt.Clock.Now())
	}
	return err
}

// await waits for something in flight to end, until a time in Unix nanoseconds.
// The error is errCeiling, or ErrUnavailable where the exchange stops.
func (e *Engine) await(ended <-chan struct{}, until int64) error {
	left := until - e.opt.Clock.Now()
	if left <= 0 {
		return errCeiling
	}
	fired, stop := e.opt.Clock.Timer(time.Duration(left))
	defer stop()
	select {
	case <-ended:
		return nil
	case <-fired:
		return errCeiling
	case <-e.stop:
		return ErrUnavailable
	}
}

// ceiling is when the answer is due.
func (in *ingest) ceiling() int64 { return in.req.Received + int64(in.engine.opt.Ceiling) }
