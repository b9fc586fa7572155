package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/wal"
)

// explainer tells what became of a lead or an auction from the log alone. Memory
// only says where to look: the entry of a lead, of an auction's name, of the
// configuration in force. It takes no lock of the hot path for longer than one
// row's look, and what it reads of the log is bounded, whatever it is asked for.
type explainer struct {
	log     *wal.Log
	state   *state.State
	named   func(supplier market.Ref, theirs string, test bool) [16]byte // the name of a seller's auction
	contact func(*event.LeadDecided) (event.Contact, error)
	dir     string // data directory
	reach   reach
}

// reach is how much of the log is read for one question.
//
// An identifier carries its milliseconds, so the fact that has it is looked for
// around them: it became durable after the identifier was drawn, within the few
// seconds that a request has, but for a clock that was changed and a disk that
// stood still.
type reach struct {
	before, after time.Duration // around an identifier's time
	later         time.Duration // from a lead's decision on, for the tries of its delivery
	entries       int           // in one search
	bytes         int64         // in one search
	facts         int           // of one delivery: an operator may have it tried again and again
}

var usualReach = reach{
	before: time.Second, after: time.Minute, later: time.Hour,
	entries: 1_000_000, bytes: 1 << 30, facts: 1000,
}

func (x *Exchange) explainer() (*explainer, error) {
	if err := x.Ready(); err != nil {
		return nil, err
	}
	on := x.engine.Load()
	return &explainer{
		log: x.log, state: x.state, named: on.SellersAuction, contact: on.Contact, dir: x.settings.DataDir, reach: usualReach,
	}, nil
}

// ExplainLead tells what became of a lead, as JSON (see Explanation). The error
// is engine.ErrNotFound where history has no such lead.
func (x *Exchange) ExplainLead(id market.LeadID) ([]byte, error) {
	e, err := x.explainer()
	if err != nil {
		return nil, err
	}
	return document(e.lead(id))
}

// ExplainAuction is ExplainLead for an auction; of one in which a lead was sold
// it tells of the lead.
func (x *Exchange) ExplainAuction(id market.AuctionID) ([]byte, error) {
	e, err := x.explainer()
	if err != nil {
		return nil, err
	}
	return document(e.auction(id))
}

// ExplainRequest is ExplainLead for what a call left in the log, by the id that
// every answer and every error carries.
func (x *Exchange) ExplainRequest(id market.RequestID) ([]byte, error) {
	e, err := x.explainer()
	if err != nil {
		return nil, err
	}
	return document(e.request(id))
}

// ExplainSellers is ExplainAuction by a seller's own id of its auction. Without a
// supplier all of them are looked up; the error is a *server.SeveralSuppliers where
// more than one has such an auction.
func (x *Exchange) ExplainSellers(supplier, theirs string) ([]byte, error) {
	e, err := x.explainer()
	if err != nil {
		return nil, err
	}
	return document(e.sellers(supplier, theirs))
}

func document(told *Explanation, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(told); err != nil {
		return nil, fmt.Errorf("cannot write an explanation: %w", err)
	}
	return out.Bytes(), nil
}
