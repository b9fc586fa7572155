package refbuyer

import (
	"sync"
	"time"

	"pingpost/engine/market"
)

// fate is the state of a post's key.
type fate uint8

const (
	fateOpen     fate = iota // only failures so far: the next attempt decides
	fateAccepted             // accepted: every later attempt gets the same answer
	fateRejected             // rejected: every later attempt gets the same answer
	fateReused               // the key was used with another body
	fateExpired              // the bid had expired when the key arrived first
)

// entry is the state of one idempotency key.
type entry struct {
	key      string
	lead     string // the seller's id
	id       string // the buyer's id
	body     [32]byte
	attempts int
	fate     fate
	answered time.Time // time of the first 201; zero: none
}

// ledger is the buyer's memory: a ring of entries, in which a new entry replaces the
// oldest, and two indexes. One lock guards all of it, because no operation under it
// waits.
type ledger struct {
	mu     sync.Mutex
	stats  Stats
	ring   []*entry
	next   int               // position of the next entry in the ring
	byKey  map[string]*entry // every entry in the ring
	byLead map[string]string // the key under which a lead was accepted first
}

func newLedger(limit int) *ledger {
	return &ledger{
		ring:   make([]*entry, limit),
		byKey:  map[string]*entry{},
		byLead: map[string]string{},
	}
}

// attempt is one post request, with the random decisions for its key.
type attempt struct {
	key, lead, id string
	body          [32]byte
	price         market.Money
	bid           bool // the price is that of a bid
	expired       bool // the bid has expired
	reject        bool
	fail          func(attempt int) (fails, taken bool)
}

// outcome describes the answer.
type outcome struct {
	fate     fate
	id       string
	number   int  // number of the attempt under its key, from 1
	failed   bool // answer 500, whatever the fate is
	replayed bool
}

// decidePost decides an attempt. A key that arrived first while its bid was valid never
// expires, because its retries belong to a sale that was in time.
func (l *ledger) decidePost(a attempt) outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Posts++
	e := l.byKey[a.key]
	switch {
	case e == nil && a.expired:
		l.stats.Expired++
		return outcome{fate: fateExpired}
	case e == nil:
		e = l.rememberLocked(a)
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
		l.acceptLocked(e, &a)
	}
	return outcome{fate: e.fate, id: e.id, number: e.attempts, failed: fails}
}

func (l *ledger) acceptLocked(e *entry, a *attempt) {
	e.fate = fateAccepted
	l.stats.Accepted++
	l.stats.Revenue += a.price
	if a.bid {
		l.stats.Won++
	}
	if _, sold := l.byLead[e.lead]; sold {
		l.stats.DoubleSold++
		return
	}
	l.byLead[e.lead] = e.key
}

// rememberLocked creates an entry for a key. It replaces the oldest entry.
func (l *ledger) rememberLocked(a attempt) *entry {
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

// count increases one counter.
func (l *ledger) count(counter func(*Stats) *int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*counter(&l.stats)++
}

func (l *ledger) snapshot() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats
}

// recordAnswer stores the time of the first 201 of a lead.
func (l *ledger) recordAnswer(key string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.byKey[key]; e != nil && e.answered.IsZero() {
		e.answered = now.UTC().Round(0) // wall-clock time for other processes
	}
}

// Lead is an accepted lead.
type Lead struct {
	Key        string    `json:"key"`
	LeadUUID   string    `json:"lead_uuid"`
	LeadID     string    `json:"lead_id"`
	AnsweredAt time.Time `json:"answered_at,omitzero"` // when its first 201 was written; absent without a 201
}

// acceptedLeads lists the remembered accepted leads by the first arrival of their keys.
func (l *ledger) acceptedLeads() []Lead {
	l.mu.Lock()
	defer l.mu.Unlock()
	leads := make([]Lead, 0, len(l.byLead))
	for i := range l.ring {
		if e := l.ring[(l.next+i)%len(l.ring)]; e != nil && e.fate == fateAccepted {
			leads = append(leads, Lead{e.key, e.lead, e.id, e.answered})
		}
	}
	return leads
}
