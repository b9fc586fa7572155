package refbuyer

import (
	"sync"

	"pingpost/engine/market"
)

// Stats is what has come, and what became of it. A post is counted in posts,
// and in at most one of accepted, rejected and replayed; an attempt that was
// answered 500 is counted as failed, beside accepted where it was taken first.
type Stats struct {
	Pings      int64        `json:"pings"`       // well-formed ones
	Bids       int64        `json:"bids"`        // pings that were answered with a bid
	Posts      int64        `json:"posts"`       // well-formed attempts
	Accepted   int64        `json:"accepted"`    // leads taken: once a key
	Rejected   int64        `json:"rejected"`    // keys refused for good
	Failed     int64        `json:"failed"`      // attempts answered 500
	Replayed   int64        `json:"replayed"`    // attempts that got the answer of an earlier one
	Invalid    int64        `json:"invalid"`     // requests refused for what they said, or for their credential
	DoubleSold int64        `json:"double_sold"` // leads taken that were taken under another key before
	Forgotten  int64        `json:"forgotten"`   // posts dropped from memory to stay within its limit
	Revenue    market.Money `json:"revenue"`     // owed for what was accepted
}

// fate is what became of a post.
type fate uint8

const (
	fateOpen     fate = iota // failed so far: the next attempt decides
	fateAccepted             // taken: every attempt from now on gets the same answer
	fateRejected             // refused: likewise
	fateReused               // the key has come with another body
)

// entry is one idempotency key and what is known of it.
type entry struct {
	key      string
	lead     string // the seller's id
	id       string // ours
	body     [32]byte
	attempts int
	fate     fate
}

// ledger is the buyer's memory: a ring of entries, the oldest of which makes
// room for the newest, and two indexes into it. One lock guards all of it,
// since nothing under it waits.
type ledger struct {
	bid market.Money

	mu     sync.Mutex
	stats  Stats
	ring   []*entry
	next   int               // where in the ring the next entry goes
	byKey  map[string]*entry // every entry in the ring
	byLead map[string]string // the key under which a lead was accepted first
}

func newLedger(limit int, bid market.Money) *ledger {
	return &ledger{
		bid:    bid,
		ring:   make([]*entry, limit),
		byKey:  map[string]*entry{},
		byLead: map[string]string{},
	}
}

// attempt is one request to post, with what chance has in store for its key.
type attempt struct {
	key, lead, id string
	body          [32]byte
	reject        bool
	fail          func(attempt int) (fails, taken bool)
}

// outcome is what to answer.
type outcome struct {
	fate     fate
	id       string
	number   int  // of the attempt under its key, from 1
	failed   bool // answer 500, whatever the fate is
	replayed bool
}

// post settles an attempt.
func (l *ledger) post(a attempt) outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Posts++
	e := l.byKey[a.key]
	switch {
	case e == nil:
		e = l.enterLocked(a)
	case e.body != a.body:
		l.stats.Invalid++
		return outcome{fate: fateReused}
	}
	e.attempts++
	if e.fate != fateOpen {
		l.stats.Replayed++
		return outcome{fate: e.fate, id: e.id, number: e.attempts, replayed: true}
	}
	fails, taken := a.fail(e.attempts)
	if fails {
		l.stats.Failed++
	}
	switch {
	case fails && !taken:
	case a.reject:
		e.fate = fateRejected
		l.stats.Rejected++
	default:
		l.acceptLocked(e)
	}
	return outcome{fate: e.fate, id: e.id, number: e.attempts, failed: fails}
}

func (l *ledger) acceptLocked(e *entry) {
	e.fate = fateAccepted
	l.stats.Accepted++
	l.stats.Revenue += l.bid
	if _, sold := l.byLead[e.lead]; sold {
		l.stats.DoubleSold++
		return
	}
	l.byLead[e.lead] = e.key
}

// enterLocked makes an entry for a key, in the place of the oldest one.
func (l *ledger) enterLocked(a attempt) *entry {
	if old := l.ring[l.next]; old != nil {
		l.stats.Forgotten++
		delete(l.byKey, old.key)
		if l.byLead[old.lead] == old.key {
			delete(l.byLead, old.lead)
		}
	}
	e := &entry{key: a.key, lead: a.lead, id: a.id, body: a.body}
	l.ring[l.next] = e
	l.next = (l.next + 1) % len(l.ring)
	l.byKey[e.key] = e
	return e
}

// ping counts one, and whether it was bid for.
func (l *ledger) ping(bid bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Pings++
	if bid {
		l.stats.Bids++
	}
}

func (l *ledger) invalid() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Invalid++
}

func (l *ledger) snapshot() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats
}

// Lead is one that was accepted.
type Lead struct {
	Key      string `json:"key"`
	LeadUUID string `json:"lead_uuid"`
	LeadID   string `json:"lead_id"`
}

// accepted lists what was accepted and is remembered, in the order in which the
// keys first came.
func (l *ledger) accepted() []Lead {
	l.mu.Lock()
	defer l.mu.Unlock()
	leads := make([]Lead, 0, len(l.byLead))
	for i := range l.ring {
		if e := l.ring[(l.next+i)%len(l.ring)]; e != nil && e.fate == fateAccepted {
			leads = append(leads, Lead{e.key, e.lead, e.id})
		}
	}
	return leads
}
