package engine

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// offered is an auction as a sale needs it: the bids that stand and what the
// ping said. Immutable, and shares no memory with the fact it was read from.
type offered struct {
	id       market.AuctionID
	name     [16]byte
	campaign market.Ref
	token    market.BidToken
	bids     []event.Bid // that stand, best first
	fields   []event.Field
	until    int64 // when the last of the bids is over
}

// offeredBy takes from a fact what a sale needs of it.
func offeredBy(fact *event.AuctionHeld) *offered {
	a := &offered{id: fact.Auction, name: fact.Name, campaign: fact.Campaign, token: fact.Token}
	for i := range fact.Bids {
		bid := fact.Bids[i]
		if bid.Token == "" || bid.Outcome != market.OutcomeWon && bid.Outcome != market.OutcomeLost {
			continue
		}
		bid.Token, bid.Reason = strings.Clone(bid.Token), ""
		a.bids = append(a.bids, bid)
		a.until = max(a.until, bid.ValidUntil)
	}
	for _, field := range fact.Fields {
		a.fields = append(a.fields, event.Field{Name: strings.Clone(field.Name), Kind: field.Kind, Text: bytes.Clone(field.Text)})
	}
	return a
}

// winner is the bid that won, which is the one that a seller's token stands for.
func (a *offered) winner() *event.Bid {
	for i := range a.bids {
		if a.bids[i].Outcome == market.OutcomeWon {
			return &a.bids[i]
		}
	}
	return nil
}

// of is a buyer's bid, or nil where none of its stands.
func (a *offered) of(buyer market.Ref) *event.Bid {
	for i := range a.bids {
		if a.bids[i].Buyer == buyer {
			return &a.bids[i]
		}
	}
	return nil
}

// size is about what it takes in memory.
func (a *offered) size() int {
	size := 256
	for i := range a.bids {
		size += 144 + len(a.bids[i].Token)
	}
	for i := range a.fields {
		size += 48 + len(a.fields[i].Name) + len(a.fields[i].Text)
	}
	return size
}

// Most posts come within a second of their ping. These bound what is kept for
// them; at 2,000 auctions a second of a few hundred bytes the windows of 5 s fit
// well.
const (
	maxRecent      = 20_000
	maxRecentBytes = 32 << 20
)

// maxReading is how many facts are read back from the log at once: each reads
// and checks part of a segment.
const maxReading = 4

// recent keeps auctions for as long as their bids stand, so that a sale need not
// read the log. It is a cache and decides nothing: what is not in it is read
// back, and comes to the same.
//
// A name is used again once memory has forgotten the auction that had it, and the
// cache may have that one still: it is emptied only while it is filled. The later
// auction takes its place.
//
// Whatever is put in goes first in, first out. A window is about as long as every
// other, so that is nearly the order in which they end; an auction that outlives
// the one before it by a little waits for it, and both limits hold meanwhile.
type recent struct {
	mu     sync.Mutex
	byName map[[16]byte]*offered
	queue  []*offered
	bytes  int
}

// keep puts an auction in, unless nobody can sell by it any more.
func (r *recent) keep(a *offered, now int64) {
	if a.until <= now || a.name == ([16]byte{}) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.byName[a.name]; known != nil && bytes.Compare(known.id[:], a.id[:]) >= 0 {
		return
	}
	size := a.size()
	for len(r.queue) > 0 && (r.queue[0].until <= now || len(r.queue) >= maxRecent || r.bytes+size > maxRecentBytes) {
		oldest := r.queue[0]
		r.queue[0], r.queue = nil, r.queue[1:]
		r.bytes -= oldest.size()
		if r.byName[oldest.name] == oldest {
			delete(r.byName, oldest.name)
		}
	}
	if r.byName == nil {
		r.byName = make(map[[16]byte]*offered)
	}
	r.byName[a.name] = a
	r.queue = append(r.queue, a)
	r.bytes += size
}

func (r *recent) find(name [16]byte) *offered {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byName[name]
}

// remember keeps an auction that has just become a fact for the sales that
// follow. The fact is the caller's again when it returns.
func (e *Engine) remember(fact *event.AuctionHeld) {
	if len(fact.Bids) > 0 {
		e.recent.keep(offeredBy(fact), e.opt.Clock.Now())
	}
}

// recall is an auction that facts have given a name, as readBack has it.
func (e *Engine) recall(row *state.AuctionRow, until int64) (*offered, error) {
	if a := e.recent.find(row.Name); a != nil {
		return a, nil
	}
	fact, err := e.readBack(row.Seq, until)
	if err != nil {
		return nil, err
	}
	held, ok := fact.(*event.AuctionHeld)
	if !ok || held.Name != row.Name {
		panic(fmt.Sprintf("BUG: fact %d is not the auction that memory has there", row.Seq))
	}
	a := offeredBy(held)
	e.recent.keep(a, e.opt.Clock.Now())
	return a, nil
}

// readBack reads a fact from the log. It waits for its turn until a time in Unix
// nanoseconds. The error is ErrUnavailable; where the log is the reason, that is
// noted.
func (e *Engine) readBack(seq uint64, until int64) (event.Event, error) {
	if !e.takeReading(until) {
		return nil, ErrUnavailable
	}
	defer func() { <-e.reading }()
	data, err := e.opt.History.At(seq)
	if err == nil {
		var fact event.Event
		if fact, err = new(event.Decoder).Decode(data); err == nil {
			return fact, nil
		}
	}
	e.opt.Note.Fault("a fact could not be read back from the log; the request may be sent again", fmt.Errorf("entry %d: %w", seq, err))
	return nil, ErrUnavailable
}

// takeReading takes a place among those who read the log; false: none came free
// in time.
func (e *Engine) takeReading(until int64) bool {
	select {
	case e.reading <- struct{}{}:
		return true
	default:
	}
	fired, stop := e.opt.Clock.Timer(time.Duration(until - e.opt.Clock.Now()))
	defer stop()
	select {
	case e.reading <- struct{}{}:
		return true
	case <-fired:
	case <-e.stop:
	}
	return false
}
