package state

import (
	"math/bits"
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// campaignRotationTable assigns turns to buyers, for round robin and weighted campaigns.
//
// Turns are smooth weighted turns: of weights 3, 1, 1 the order is a b a c a,
// never a a a b c. With T turns taken among members of weight w(i) and total
// weight W, of which member i took n(i), the next one goes to the member with
// the greatest (T+1)·w(i) − W·n(i), the first of equals. That is a function of
// the counts alone, so turns may be applied in any order and given back one by
// one; and from counts of zero it repeats after W turns, so any W turns in a row
// split exactly by weight.
//
// Exactness must survive buyers that come and go. So each set of members that
// were eligible together has counts of its own, and a change of eligibility is a
// change of set: no stretch without a change is disturbed by what went before,
// and a buyer that was out neither catches up nor pays back. A set that was not
// seen before begins at a position in its cycle (its phase, chosen by a hash), so
// that many sets seen once each do not all begin with the same buyer.
//
// (Rejected: one set of credits for each campaign, as in web proxies: a buyer that
// returns has stale credit, and any subset is split unevenly for a while.
// Rejected: virtual time a buyer, which owes a returning buyer its backlog.)
//
// A campaign remembers at most maxRotations sets, the least recently used goes. Reserved
// turns are separate from the counts, and a set with reserved turns alone is in no
// snapshot and no hash.
//
// Each campaign's turns have a lock of their own; the map's lock only guards the map.
type campaignRotationTable struct {
	mu         sync.Mutex
	byCampaign map[market.Ref]*campaignRotations
}

const maxRotations = 1024

type campaignRotations struct {
	mu               sync.Mutex
	rotations        map[uint64]*rotation
	appliedRotations int    // number of sets that events have used
	appliedTurns     uint64 // all turns of events
}

type rotation struct {
	phase        uint32
	applied      bool   // an event has used the set
	lastTurn     uint64 // sequence of the last turn
	counts       []uint32
	pending      []int32 // reserved turns by member
	pendingTotal int     // sum of pending
	start        []uint32
}

// reserveTurn reserves the next turn among members, whose weights are in their fixed order.
// rotationID identifies members and weights.
func (t *campaignRotationTable) reserveTurn(campaign market.Ref, rotationID uint64, weights []int32) event.RotationTurn {
	c := t.getOrCreate(campaign)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.rotations[rotationID]
	if s == nil {
		s = &rotation{phase: c.initialPhaseLocked(rotationID)}
		c.rotations[rotationID] = s
	}
	member := s.nextMember(weights)
	for len(s.pending) <= member {
		s.pending = append(s.pending, 0)
	}
	s.pending[member]++
	s.pendingTotal++
	return event.RotationTurn{Set: rotationID, Phase: s.phase, Member: uint32(member)}
}

// peekTurn returns the member with the next turn, without reserving it. For an unknown rotationID it
// returns the member with which the rotationID would begin.
func (t *campaignRotationTable) peekTurn(campaign market.Ref, rotationID uint64, weights []int32) uint32 {
	c := t.getOrCreate(campaign)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.rotations[rotationID]
	if s == nil {
		s = &rotation{phase: c.initialPhaseLocked(rotationID)}
	}
	return uint32(s.nextMember(weights))
}

// initialPhaseLocked returns the position in its cycle at which an unknown rotationID begins.
func (c *campaignRotations) initialPhaseLocked(rotationID uint64) uint32 {
	return uint32(newDigest(rotationID).addWord(c.appliedTurns).sum())
}

func (t *campaignRotationTable) releaseTurn(campaign market.Ref, turn event.RotationTurn) {
	c := t.getOrCreate(campaign)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.rotations[turn.Set]
	if s == nil || !s.endPendingTurnLocked(turn.Member) {
		return
	}
	if s.pendingTotal == 0 && !s.applied {
		delete(c.rotations, turn.Set)
	}
}

// endPendingTurnLocked ends a reserved turn of the member. It returns false if there is none:
// in a replay, or if the set was forgotten and started again meanwhile.
func (s *rotation) endPendingTurnLocked(member uint32) bool {
	if int(member) >= len(s.pending) || s.pending[member] == 0 {
		return false
	}
	s.pending[member]--
	s.pendingTotal--
	return true
}

// applyTurn counts an event's turn, and ends its reservation.
func (t *campaignRotationTable) applyTurn(campaign market.Ref, turn event.RotationTurn, seq uint64) {
	if turn.Set == 0 {
		return
	}
	c := t.getOrCreate(campaign)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.rotations[turn.Set]
	if s == nil {
		s = &rotation{}
		c.rotations[turn.Set] = s
	}
	if !s.applied {
		s.applied, s.phase, s.start = true, turn.Phase, nil
		c.appliedRotations++
		if c.appliedRotations > maxRotations {
			c.dropLeastRecentlyUsed()
		}
	}
	s.countAppliedTurn(turn.Member)
	s.endPendingTurnLocked(turn.Member)
	s.lastTurn = seq
	c.appliedTurns++
}

func (s *rotation) countAppliedTurn(member uint32) {
	for len(s.counts) <= int(member) {
		s.counts = append(s.counts, 0)
	}
	s.counts[member]++
}

// dropLeastRecentlyUsed removes the applied set with the oldest last turn. The set that is being
// added has no last turn yet and stays.
func (c *campaignRotations) dropLeastRecentlyUsed() {
	var oldest uint64
	var victim *rotation
	for set, s := range c.rotations {
		if s.applied && s.lastTurn != 0 && (victim == nil || s.lastTurn < victim.lastTurn) {
			oldest, victim = set, s
		}
	}
	if victim == nil {
		return
	}
	c.appliedRotations--
	if victim.pendingTotal == 0 {
		delete(c.rotations, oldest)
		return
	}
	victim.applied, victim.counts, victim.lastTurn = false, nil, 0
}

func (t *campaignRotationTable) getOrCreate(campaign market.Ref) *campaignRotations {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.byCampaign[campaign]
	if c == nil {
		c = &campaignRotations{rotations: make(map[uint64]*rotation)}
		t.byCampaign[campaign] = c
	}
	return c
}

// nextMember returns the member with the next turn by applied and reserved turns.
func (s *rotation) nextMember(weights []int32) int {
	if s.start == nil {
		s.start = initialCounts(weights, s.phase)
	}
	var total, sum int64
	for i, w := range weights {
		total += s.totalTurnsOf(i)
		sum += int64(w)
	}
	best, most := 0, int64(0)
	for i, w := range weights {
		credit := (total+1)*int64(w) - sum*s.totalTurnsOf(i)
		if i == 0 || credit > most {
			best, most = i, credit
		}
	}
	return best
}

func (s *rotation) totalTurnsOf(member int) int64 {
	n := int64(0)
	if member < len(s.start) {
		n += int64(s.start[member])
	}
	if member < len(s.counts) {
		n += int64(s.counts[member])
	}
	if member < len(s.pending) {
		n += int64(s.pending[member])
	}
	return n
}

// startWork bounds the steps that compute the start of a set's cycle.
const startWork = 1 << 16

// initialCounts returns the counts after the first phase turns of the cycle, modulo the
// cycle's length.
func initialCounts(weights []int32, phase uint32) []uint32 {
	counts := make([]uint32, len(weights))
	var sum int64
	equal := true
	for _, w := range weights {
		sum += int64(w)
		equal = equal && w == weights[0]
	}
	if equal {
		high, _ := bits.Mul64(uint64(phase)<<32, uint64(len(weights)))
		for i := range int(high) {
			counts[i] = 1
		}
		return counts
	}
	steps := min(sum, max(1, startWork/int64(len(weights))))
	high, _ := bits.Mul64(uint64(phase)<<32, uint64(steps))
	s := rotation{start: counts}
	for range int(high) {
		counts[s.nextMember(weights)]++
	}
	return counts
}

func (t *campaignRotationTable) digest() (sum uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for campaign, c := range t.byCampaign {
		c.mu.Lock()
		sum += c.digestLocked(campaign)
		c.mu.Unlock()
	}
	return sum
}

func (c *campaignRotations) digestLocked(campaign market.Ref) (sum uint64) {
	if c.appliedTurns == 0 {
		return 0
	}
	sum = newDigest(6).addWord(uint64(campaign)).addWord(c.appliedTurns).sum()
	for set, s := range c.rotations {
		if !s.applied {
			continue
		}
		d := newDigest(7).addWord(uint64(campaign)).addWord(set).addWord(uint64(s.phase)).addWord(s.lastTurn)
		for _, n := range s.counts {
			d = d.addWord(uint64(n))
		}
		sum += d.sum()
	}
	return sum
}
