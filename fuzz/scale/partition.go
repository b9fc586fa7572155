package main

import (
	"encoding/binary"
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// partition is one Raft group of the exchange, reduced to one log and one state. The state, its
// reservations, its events and its replay are the engine's. A commit takes the time that a majority needs.
type partition struct {
	sim     *simulation
	id      int
	skew    int64 // of its clock
	state   *state.State
	durable []*logEntry
	pending []*logEntry // appended and not yet durable, in order

	seq        uint64 // of the engine's events
	lastTime   int64  // of the last entry: times never decrease
	lastCommit int64  // planned time of the last appended entry
	lives      int    // crashes so far; a function of an earlier life has no effect
	crashed    bool

	crashAtTransfer bool // the partition crashes before the next transfer is durable
	cut             bool // the network reaches it from no other partition

	ids           uint64
	holdings      []holding // by resource
	escrows       []escrow  // by resource; used for own resources
	waiting       map[market.PermanentNumber][]*lead
	fundsReserved map[market.PermanentNumber]market.Money
	inFlight      int64   // leads without a decision
	heardAt       []int64 // by partition: time of its last message
	silentUntil   []int64 // by partition: it did not answer, and is asked again then
}

// logEntry is an entry of the partition's log: an engine's event, a transfer of capacity, or both.
type logEntry struct {
	at       int64
	data     []byte // the encoded event; empty: no event
	transfer *transfer

	event event.Event // until it is applied
	then  func()      // after it was applied
}

// transfer records the totals of a resource for one holder after a change. The owner's log has those of
// all holders, and a holder's log its own.
type transfer struct {
	resource, holder int
	window           int64
	totals
}

func newPartition(sim *simulation, id int) *partition {
	p := &partition{sim: sim, id: id, skew: sim.network.random.Int64N(40_000_001) - 20_000_000}
	p.reset()
	return p
}

// reset empties the memory.
func (p *partition) reset() {
	count := len(p.sim.market.resources)
	p.state, p.seq, p.pending = state.New(), 0, nil
	p.holdings, p.escrows = make([]holding, count), make([]escrow, count)
	for i := range p.escrows {
		p.escrows[i].holders = make([]holderAccount, p.sim.options.Partitions)
	}
	p.waiting = map[market.PermanentNumber][]*lead{}
	p.fundsReserved = map[market.PermanentNumber]market.Money{}
	p.silentUntil, p.heardAt = make([]int64, p.sim.options.Partitions), make([]int64, p.sim.options.Partitions)
	p.inFlight = 0
}

// clock returns the partition's time, which differs from that of the others.
func (p *partition) clock() int64 { return p.sim.now + p.skew }

// newID returns a new identifier of a lead, which names its partition.
func (p *partition) newID() (id market.LeadID) {
	p.ids++
	binary.BigEndian.PutUint64(id[4:], p.ids*0x9e3779b97f4a7c15)
	id[0], id[14], id[15] = byte(p.id+1), byte(p.ids>>8), byte(p.ids)
	return id
}

// append logs an event, a transfer, or both in one entry. then runs after the entry is durable and applied.
func (p *partition) append(e event.Event, t *transfer, then func()) {
	entry := &logEntry{transfer: t, event: e, then: then}
	if e != nil {
		entry.data = event.AppendRecord(nil, e)
	}
	p.pending = append(p.pending, entry)
	p.lastCommit = max(p.lastCommit, p.sim.now+p.sim.drawCommitTime())
	p.later(p.lastCommit, p.commitNext)
	if t != nil && p.crashAtTransfer {
		p.later(p.sim.now+beforeCommit, p.sim.crashOf(p))
	}
}

// later runs a function at a time, unless the partition crashes before.
func (p *partition) later(unixNanos int64, run func()) {
	life := p.lives
	p.sim.at(unixNanos, func() {
		if life == p.lives {
			run()
		}
	})
}

// commitNext makes the oldest pending entry durable and applies it.
func (p *partition) commitNext() {
	entry := p.pending[0]
	p.pending = p.pending[1:]
	p.lastTime = max(p.lastTime, p.clock())
	entry.at = p.lastTime
	p.durable = append(p.durable, entry)
	if entry.event != nil {
		p.seq++
		p.state.Apply(p.seq, entry.at, entry.event)
	}
	if entry.transfer == nil {
		p.sim.audit.addEvent(p, entry.event)
	} else {
		p.sim.audit.addTransfer(p, entry.transfer)
		p.applyTransfer(entry.transfer)
	}
	then := entry.then
	entry.event, entry.then = nil, nil
	if then != nil {
		then()
	}
}

// applyTransfer is used by live operation and by the replay.
func (p *partition) applyTransfer(t *transfer) {
	if p.sim.market.resources[t.resource].owner == p.id {
		e := &p.escrows[t.resource]
		e.startWindow(t.window, int64(p.id))
		if t.window == e.window {
			e.holders[t.holder].durable = t.totals
		}
		return
	}
	h := &p.holdings[t.resource]
	h.durableWindow, h.durable = t.window, t.totals
}

// crash ends the process: it loses its memory and the entries that are not durable.
func (p *partition) crash() (stateHash uint64) {
	_, stateHash = p.state.Hash()
	p.sim.figures.lostLeads += p.inFlight
	p.crashed = true
	p.lives++
	p.reset()
	return stateHash
}

// restart replays the log with the engine's code and compares the state with the one before the crash.
func (p *partition) restart(stateHash uint64) {
	replay := p.state.NewLogReplay()
	for _, entry := range p.durable {
		if entry.transfer != nil {
			p.applyTransfer(entry.transfer)
		}
		if len(entry.data) == 0 {
			continue
		}
		p.seq++
		more, err := replay.QueueEntry(p.seq, entry.at, entry.data)
		if err != nil {
			panic(fmt.Sprintf("BUG: %v", err))
		}
		if !more {
			replay.ApplyQueuedEntries()
		}
	}
	replay.ApplyQueuedEntries()
	for i := range p.holdings {
		p.holdings[i].restore()
	}
	for i := range p.escrows {
		p.escrows[i].restore()
	}
	if _, now := p.state.Hash(); now != stateHash {
		p.sim.audit.fault("partition %d: the replay gives the state %x, before the crash it was %x", p.id, now, stateHash)
	}
	p.crashed = false
	p.lastCommit = p.sim.now
}
