package sim

import (
	"maps"
	"slices"
	"time"
)

// model is the exchange as its contract has it, and as naively as can be: one
// goroutine, plain maps, every question answered by looking at everything. It
// shares no code with the engine beyond the names of its answers.
//
// It follows the contract. Where that is silent its rules were taken from what the
// engine does, so there it tells that the engine has changed and not that it is
// right: the place of a buyer's own list among the reasons, turns that begin anew
// with a campaign's seats, doubt after a restart, expiry by the second, how long
// dead letters are kept, the least price at which an auction asks, what a post at a
// bid still takes when its buyer cannot be reached.
//
// Its time is the simulation's. What a request waits for is waited for by until,
// which lets the deliveries that are under way go on meanwhile. Whatever the
// exchange must have made durable before it goes on stands in commit, and changes
// the maps there and nowhere else; so a crash between any two facts is a panic
// that leaves the model where the log leaves the exchange.
//
// Two things the contract leaves to the exchange, and the model takes from what it
// has seen, so far as the contract allows it: where the turns of a set of buyers
// begin, and whether a buyer that has failed lately is asked for a bid.
type model struct {
	terms   *terms
	conduct *conduct
	now     int64 // Unix nanoseconds

	funds      map[string]int64 // what a buyer has left to buy for; only those with accounts
	used       map[string]int64 // of a cap in a window: leads, or millionths
	remembered map[string]memory
	keys       map[string]usedKey
	leads      map[string]*lead
	gone       map[string]bool // leads whose persons were erased
	paused     map[string]bool // by kind and name
	users      map[string]account
	papers     map[string]paper // tokens of users
	turns      map[string]*cycle
	deliveries []*delivery
	posted     []*lead // of which open ones hold money
	events     map[string]*owedEvent
	auctions   map[string]*offered
	failures   map[string]int // of a buyer's answers to pings, in a row or nearly so
	ledger     map[string]int64

	owed    int   // events ever
	awake   int64 // since when somebody tells of events
	closing bool  // no attempt begins any more
	loose   bool  // turns go to whom they were seen to go
	sure    bool  // a crash is coming: left facts become durable, and no more
	left    int
	unheard bool // it comes after the last of them, not before the next

	seen seen // of the request that is under way
}

// seen is what was seen of one request.
type seen struct {
	takers []string        // to whom its lead was given, one after the other
	asked  map[string]bool // who was asked for bids
}

type memory struct {
	lead  string
	until int64
}

type usedKey struct {
	body, lead string
	answer     string // of requests that are no leads
	until      int64
}

// lead is what became of one.
type lead struct {
	label, campaign, supplier, buyer string
	price, payout                    int64
	received, decided                int64
	status, delivery, reason, told   string
	charges                          []charge
	duplicates                       map[string]int64 // until when each value counts
	backed                           string           // its return: waits, approved or refused
	credit, reverse                  int64            // of a return that waits
	capback                          bool
	auction                          string // that it was sold at
	recordedAs                       string // body under its key
	phone, email                     string // its person's
	certain, once                    bool   // its buyer certifies a repeat's answer; takes a repeat for a second lead
	swallowed                        string // the buyer that took it without an answer, and forgot it
}

// died is what commit panics with.
type died struct{}

func newModel(begin int64) *model {
	return &model{
		terms: newTerms(), conduct: newConduct(), now: begin,
		funds: map[string]int64{}, used: map[string]int64{}, remembered: map[string]memory{}, keys: map[string]usedKey{},
		leads: map[string]*lead{}, gone: map[string]bool{}, paused: map[string]bool{}, users: map[string]account{}, papers: map[string]paper{}, turns: map[string]*cycle{}, events: map[string]*owedEvent{},
		auctions: map[string]*offered{}, failures: map[string]int{}, ledger: map[string]int64{},
	}
}

// clone is a model that goes its own way from here.
func (m *model) clone() *model {
	c := *m
	c.funds, c.used, c.remembered, c.keys = maps.Clone(m.funds), maps.Clone(m.used), maps.Clone(m.remembered), maps.Clone(m.keys)
	c.gone, c.paused, c.failures, c.ledger = maps.Clone(m.gone), maps.Clone(m.paused), maps.Clone(m.failures), maps.Clone(m.ledger)
	c.users, c.papers = maps.Clone(m.users), maps.Clone(m.papers)
	c.leads, c.turns = map[string]*lead{}, map[string]*cycle{}
	c.events, c.auctions = map[string]*owedEvent{}, maps.Clone(m.auctions)
	for label, l := range m.leads {
		other := *l
		c.leads[label] = &other
	}
	for set, t := range m.turns {
		c.turns[set] = &cycle{order: t.order, next: slices.Clone(t.next)}
	}
	for name, e := range m.events {
		other := *e
		c.events[name] = &other
	}
	c.deliveries = nil
	for _, d := range m.deliveries {
		other := *d
		other.lead = c.leads[d.lead.label]
		c.deliveries = append(c.deliveries, &other)
	}
	return &c
}

// commit is a fact that becomes durable, and what it changes.
func (m *model) commit(apply func()) {
	if m.sure && m.left == 0 {
		panic(died{})
	}
	apply()
	if m.sure {
		if m.left--; m.left == 0 && m.unheard {
			panic(died{})
		}
	}
}

// until lets time pass, with all that happens by itself meanwhile.
func (m *model) until(t int64) {
	for {
		var first *delivery
		for _, d := range m.deliveries {
			if !d.attended && !d.cut && (d.trying || !m.closing) && d.at <= t && (first == nil || d.at < first.at) {
				first = d
			}
		}
		if first == nil {
			break
		}
		m.now = max(m.now, first.at)
		m.goOn(first)
	}
	m.now = max(m.now, t)
}

// open puts the market in force: what is new of it begins.
func (m *model) open() {
	for id, l := range m.terms.buyers {
		if _, known := m.funds[id]; l.has("funds") && !known {
			m.funds[id] = l.money("funds")
			m.ledger[id+" opening"] = l.money("funds")
		}
	}
}

// crash ends the process: attempts under way are cut off, and nobody knows what
// came of them.
func (m *model) crash() {
	m.sure = false
	for _, d := range m.deliveries {
		d.attended, d.cut = false, true
	}
	clear(m.failures)
}

// start is the next process: it takes up what was left open.
func (m *model) start() {
	m.open()
	for _, d := range m.deliveries {
		if !d.cut {
			continue
		}
		d.cut, d.trying, d.doubtful, d.spent = false, false, true, d.lead.once
		if d.lead.told == "" {
			m.commit(func() { m.accept(d.lead, "pending") })
		}
		d.at = m.now
		if d.attempts > 0 {
			d.at = max(m.now, d.tried+int64(gaps[d.attempts-1]))
		}
	}
}

// seconds of the interface's promises.
const (
	ceiling     = int64(5 * time.Second)
	remembering = int64(30 * 24 * time.Hour) // of idempotent answers
	memoryOf    = int64(45 * 24 * time.Hour) // of leads, at least
)
