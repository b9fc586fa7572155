package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"pingpost/engine"
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
	log   *wal.Log
	state *state.State
	dir   string // data directory
	reach reach
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
	return &explainer{log: x.log, state: x.state, dir: x.settings.DataDir, reach: usualReach}, nil
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

// lead finds a lead by memory's row of it, else by its time.
func (e *explainer) lead(id market.LeadID) (*Explanation, error) {
	found, err := e.decision(id)
	if err != nil {
		return nil, err
	}
	told, sale, err := e.tellLead(found)
	if err != nil {
		return nil, err
	}
	if sale.Ping != [16]byte{} {
		if told.Auction, err = e.earlier(sale.Ping, found); err != nil {
			return nil, err
		}
	}
	discreet(found, told)
	return told, nil
}

func (e *explainer) decision(id market.LeadID) (*entry, error) {
	if row, ok := e.state.Lead(id); ok {
		return e.at(row.Seq)
	}
	return e.search(id, func(fact event.Event) bool {
		lead, ok := fact.(*event.LeadDecided)
		return ok && lead.Lead == id
	})
}

func (e *explainer) auction(id market.AuctionID) (*Explanation, error) {
	found, err := e.search(id, func(fact event.Event) bool {
		switch fact := fact.(type) {
		case *event.AuctionHeld:
			return fact.Auction == id
		case *event.LeadDecided:
			return fact.Auction.ID == id
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	if decided, ok := found.fact.(*event.LeadDecided); ok {
		return e.lead(decided.Lead)
	}
	told := e.tellAuction(found)
	if err := e.posted(told, found); err != nil {
		return nil, err
	}
	return told, nil
}

// earlier is the ping whose bid a lead was sold at; nil where history no longer
// has it.
func (e *explainer) earlier(name [16]byte, sold *entry) (*Explanation, error) {
	decided := sold.lead()
	row, ok := e.state.Auction(name, decided.Decided)
	var found *entry
	var err error
	if ok {
		found, err = e.at(row.Seq)
	} else {
		found, err = e.search(decided.Post.Auction, func(fact event.Event) bool {
			held, ok := fact.(*event.AuctionHeld)
			return ok && held.Name == name
		})
	}
	if isGone(err) {
		return nil, nil //nolint:nilnil // the lead is told of without it
	}
	if err != nil {
		return nil, err
	}
	return e.tellAuction(found), nil
}

// maxPosted bounds how many leads of one ping are told of: each may be refused,
// and another posted.
const maxPosted = 16

// posted adds to a ping the leads that were posted at its bids while they were
// open.
func (e *explainer) posted(told *Explanation, found *entry) error {
	held := found.held()
	if held.Name == [16]byte{} || held.Reason != market.ReasonNone {
		return nil
	}
	var sales []*entry
	truncated, err := e.each(held.Name, found.at, found.at+int64(e.reach.after), func(after *entry) bool {
		decided, ok := after.fact.(*event.LeadDecided)
		if ok && decided.Sale.Ping == held.Name {
			sales = append(sales, after)
		}
		return len(sales) < maxPosted
	})
	if err != nil {
		return err
	}
	told.Truncated = truncated
	for _, sold := range sales {
		lead, _, err := e.tellLead(sold)
		if err != nil {
			return err
		}
		discreet(sold, lead, told)
		told.Leads = append(told.Leads, lead)
	}
	told.Why += whatCame(told)
	return nil
}

func notFound(what string) error {
	return fmt.Errorf("%w: %s", engine.ErrNotFound, what)
}
