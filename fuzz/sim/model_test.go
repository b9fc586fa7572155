package sim

import (
	"maps"
	"slices"
	"time"
)

// model implements the exchange's contract as simply as possible: one goroutine, plain maps,
// and a full scan for every question. It shares no code with the engine except the names of
// answers.
//
// Where the contract is silent, the model copies the engine's rules. It then detects changes of
// the engine, but does not prove them right: the stage of a buyer's own list, the restart of
// turns with a campaign's filter sets, uncertainty after a restart, expiry by the second, the
// lifetime of dead letters, the floor of an auction, and the charges of a post at a bid when
// its buyer is unreachable.
//
// It uses simulated time. A request waits with until, which runs open deliveries meanwhile.
// Everything that the exchange must make durable before it continues is in a commit, and
// changes the maps only there. A crash between two events is a panic, which leaves the model in
// the same state as the log leaves the exchange.
//
// The contract leaves two choices to the exchange: the start of a set's turns, and whether it
// asks a buyer that failed recently for a bid. The model copies them as far as the contract
// allows.
type model struct {
	terms   *terms
	conduct *conduct
	now     int64 // Unix nanoseconds

	funds      map[string]int64 // available money of buyers with accounts
	used       map[string]int64 // use of a cap in a window: leads or millionths
	remembered map[string]memory
	keys       map[string]usedKey
	leads      map[string]*lead
	erased     map[string]bool // erased leads
	paused     map[string]bool // by kind and name
	turns      map[string]*turnCycle
	deliveries []*delivery
	posted     []*lead // open ones hold money
	events     map[string]*pendingWebhook
	auctions   map[string]*answeredAuction
	failures   map[string]int // a buyer's failed answers to pings, approximately in a row
	ledger     map[string]int64

	webhookCount    int   // number of all webhook events
	webhooksSince   int64 // start of the current webhook delivery
	closing         bool  // no new attempt starts
	followSeenTurns bool  // turns go to the buyers that were seen
	crashPending    bool  // a crash is coming: only left more events become durable
	left            int
	crashUnreported bool // the crash follows the last of them at once, not the next one

	seen observations // of the current request
}

// observations holds the observations of one request.
type observations struct {
	buyers []string        // buyers of its lead in order
	asked  map[string]bool // buyers that were asked for bids
}

type memory struct {
	lead  string
	until int64
}

type usedKey struct {
	body, lead string
	answer     string // of requests that are not leads
	until      int64
}

// lead is the state of a lead.
type lead struct {
	label, campaign, supplier, buyer string
	price, payout                    int64
	received, decided                int64
	status, delivery, reason, told   string
	charges                          []capCharge
	duplicates                       map[string]int64 // expiry of each value
	backed                           string           // its return: waits, approved or refused
	credit, reverse                  int64            // of a pending return
	capback                          bool
	auction                          string // auction at whose bid it was sold
	recordedAs                       string // body under its key
	phone, email                     string // of its person
	certain, once                    bool   // its buyer is idempotent; its buyer counts a repeat as a second lead
	swallowed                        string // the buyer that accepted it without an answer and forgot it
}

// died is the panic value of commit.
type died struct{}

func newModel(begin int64) *model {
	return &model{
		terms: newTerms(), conduct: newConduct(), now: begin,
		funds: map[string]int64{}, used: map[string]int64{}, remembered: map[string]memory{}, keys: map[string]usedKey{},
		leads: map[string]*lead{}, erased: map[string]bool{}, paused: map[string]bool{}, turns: map[string]*turnCycle{}, events: map[string]*pendingWebhook{},
		auctions: map[string]*answeredAuction{}, failures: map[string]int{}, ledger: map[string]int64{},
	}
}

// clone returns an independent copy.
func (m *model) clone() *model {
	c := *m
	c.funds, c.used, c.remembered, c.keys = maps.Clone(m.funds), maps.Clone(m.used), maps.Clone(m.remembered), maps.Clone(m.keys)
	c.erased, c.paused, c.failures, c.ledger = maps.Clone(m.erased), maps.Clone(m.paused), maps.Clone(m.failures), maps.Clone(m.ledger)
	c.leads, c.turns = map[string]*lead{}, map[string]*turnCycle{}
	c.events, c.auctions = map[string]*pendingWebhook{}, maps.Clone(m.auctions)
	for label, l := range m.leads {
		other := *l
		c.leads[label] = &other
	}
	for set, t := range m.turns {
		c.turns[set] = &turnCycle{order: t.order, next: slices.Clone(t.next)}
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

// commit records an event and its changes.
func (m *model) commit(apply func()) {
	if m.crashPending && m.left == 0 {
		panic(died{})
	}
	apply()
	if m.crashPending {
		if m.left--; m.left == 0 && m.crashUnreported {
			panic(died{})
		}
	}
}

// until advances the time and runs everything that happens meanwhile.
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
		m.runDelivery(first)
	}
	m.now = max(m.now, t)
}

// open applies the market and opens new accounts.
func (m *model) open() {
	for id, l := range m.terms.buyers {
		if _, known := m.funds[id]; l.has("funds") && !known {
			m.funds[id] = l.money("funds")
			m.ledger[id+" opening"] = l.money("funds")
		}
	}
}

// crash ends the process. Attempts in progress are cut, with unknown results.
func (m *model) crash() {
	m.crashPending = false
	for _, d := range m.deliveries {
		d.attended, d.cut = false, true
	}
	clear(m.failures)
}

// start starts the next process, which continues open deliveries.
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

// Durations that the interface promises.
const (
	ceiling     = int64(5 * time.Second)
	remembering = int64(30 * 24 * time.Hour) // of idempotent answers
	memoryOf    = int64(45 * 24 * time.Hour) // minimum memory of leads for duplicates
)
