package state

import (
	"math/bits"
	"slices"
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// campaignRotationTable decides whose turn it is in round-robin and weighted campaigns.
//
// Turns are smooth weighted turns: of weights 3, 1, 1 the order is a b a c a, never a a a b c.
// With T turns taken among members of weight w(i) and total weight W, of which member i took
// n(i), the next turn goes to the member with the greatest (T+1)·w(i) − W·n(i), the first of
// equals. That is a function of the counts alone, so turns may be applied in any order and given
// back one by one. From counts of zero it repeats after W turns, so any W turns in a row split
// exactly by weight.
//
// Exactness must survive buyers that come and go. So each set of members that were eligible
// together has counts of its own, called a rotation. When other buyers are eligible,
// another rotation applies. While the eligible buyers stay the same, the split is exact, whatever
// happened before. A buyer that was excluded for a while neither catches up nor pays back.
// A new rotation begins at a position in its cycle (its phase, chosen by a hash), so that many
// rotations used once each do not all begin with the same buyer.
//
// (Rejected: one set of credits for each campaign, as in web proxies: a buyer that returns has
// stale credit, and any subset is split unevenly for a while. Rejected: virtual time for each
// buyer, which would give a returning buyer all turns that it missed.)
//
// A campaign remembers at most maxRotations rotations and drops the least recently used one.
// Reserved turns are separate from the counts. A rotation with reserved turns alone is in no
// snapshot and no hash.
//
// Each campaign's turns have a lock of their own; mu only guards the map.
type campaignRotationTable struct {
	mu         sync.Mutex
	byCampaign map[market.PermanentNumber]*campaignRotations

	snapshot uint32 // number of the newest snapshot; State.applying guards it
}

// maxRotations is the maximum number of rotations that a campaign remembers. Rotations with reserved
// turns alone do not count.
const maxRotations = 1024

// campaignRotations holds the rotations of one campaign, by the hash of their members and
// weights.
type campaignRotations struct {
	mu               sync.Mutex
	rotations        map[uint64]*rotationTurnCounts
	appliedRotations int    // number of rotations that events have used
	appliedTurns     uint64 // all turns that events have recorded

	copies          snapshotCopies[uint64, appliedTurnCounts]
	turnsAtSnapshot uint64 // appliedTurns when the newest snapshot began
}

// rotationTurnCounts is one rotation: it counts the turns of the buyers that were eligible together.
// A member is a buyer's position among them.
type rotationTurnCounts struct {
	appliedTurnCounts
	applied      bool     // an event has used the rotation
	pending      []int32  // reserved turns by member
	pendingTotal int      // sum of pending
	start        []uint32 // turns before the beginning position, by member; nil: not computed yet

	lastCopied   uint32 // see snapshotCopies
	countsShared bool   // a snapshot's copy may have the same list counts, which then never changes
}

// appliedTurnCounts is the part of a rotation that a snapshot has.
type appliedTurnCounts struct {
	phase    uint32   // a hash that chooses the position at which the rotation began
	lastTurn uint64   // sequence of the event with the last turn
	counts   []uint32 // turns that events have recorded, by member
}

// beginSnapshotLocked begins the snapshot with this number, unless that was done already. It is called
// before an event first changes the campaign's rotations after the snapshot began. The caller holds mu.
func (c *campaignRotations) beginSnapshotLocked(snapshot uint32) {
	if c.copies.snapshot != snapshot {
		c.copies.snapshot, c.copies.entries, c.turnsAtSnapshot = snapshot, c.appliedRotations, c.appliedTurns
	}
}

// copyLocked copies a rotation that events have used for the newest snapshot before it changes. The
// caller holds mu.
func (c *campaignRotations) copyLocked(membersAndWeightsHash uint64, s *rotationTurnCounts) {
	if !s.applied { // no event has used it before the snapshot
		s.lastCopied = c.copies.snapshot
	} else if c.copies.addOnce(&s.lastCopied, membersAndWeightsHash, s.appliedTurnCounts) {
		s.countsShared = true
	}
}

// reserveTurn reserves the next turn for one of the campaign's eligible buyers.
// membersAndWeightsHash is a hash of these buyers (the members) and their weights. weights lists
// the members' weights in a fixed order. The result names the chosen member by its index in
// weights.
func (t *campaignRotationTable) reserveTurn(campaign market.PermanentNumber, membersAndWeightsHash uint64, weights []int32) event.RotationTurn {
	c := t.getOrCreateRotations(campaign)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.rotations[membersAndWeightsHash]
	if s == nil {
		s = c.newRotationLocked(membersAndWeightsHash)
		c.rotations[membersAndWeightsHash] = s
	}
	member := s.nextMemberIndex(weights)
	for len(s.pending) <= member {
		s.pending = append(s.pending, 0)
	}
	s.pending[member]++
	s.pendingTotal++
	return event.RotationTurn{Set: membersAndWeightsHash, Phase: s.phase, Member: uint32(member)}
}

// peekTurn returns the member that would get the campaign's next turn, and reserves no turn.
// membersAndWeightsHash is a hash of the eligible buyers (members) and their weights. The result is
// an index of weights.
func (t *campaignRotationTable) peekTurn(campaign market.PermanentNumber, membersAndWeightsHash uint64, weights []int32) (memberIndex uint32) {
	c := t.getOrCreateRotations(campaign)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.rotations[membersAndWeightsHash]
	if s == nil {
		s = c.newRotationLocked(membersAndWeightsHash)
	}
	return uint32(s.nextMemberIndex(weights))
}

// newRotationLocked returns a new rotation. Its phase, where in its cycle of turns it begins, depends on
// the campaign's past turns. The caller holds c.mu.
func (c *campaignRotations) newRotationLocked(membersAndWeightsHash uint64) *rotationTurnCounts {
	s := new(rotationTurnCounts)
	s.phase = uint32(newRunningHash(membersAndWeightsHash).addWord(c.appliedTurns).sum())
	return s
}

// releaseTurn gives back a turn that a request has reserved and not used. It drops a rotation
// that no event has used and that has no other reserved turn.
func (t *campaignRotationTable) releaseTurn(campaign market.PermanentNumber, turn event.RotationTurn) {
	c := t.getOrCreateRotations(campaign)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.rotations[turn.Set]
	if s == nil || !s.endReservedTurnLocked(turn.Member) {
		return
	}
	if s.pendingTotal == 0 && !s.applied {
		delete(c.rotations, turn.Set)
	}
}

// endReservedTurnLocked ends one reserved turn of the member. It returns false if the member has
// no reserved turn. This is so in a replay, or if the rotation was dropped and started again
// meanwhile.
func (s *rotationTurnCounts) endReservedTurnLocked(member uint32) (ended bool) {
	if int(member) >= len(s.pending) || s.pending[member] == 0 {
		return false
	}
	s.pending[member]--
	s.pendingTotal--
	return true
}

// countTurnAndEndReservation counts the turn that an event records, and ends the turn's
// reservation. A zero Set means that the sale took no turn.
func (t *campaignRotationTable) countTurnAndEndReservation(campaign market.PermanentNumber, turn event.RotationTurn, seq uint64) {
	if turn.Set == 0 {
		return
	}
	c := t.getOrCreateRotations(campaign)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.beginSnapshotLocked(t.snapshot)
	s := c.rotations[turn.Set]
	if s == nil {
		s = &rotationTurnCounts{}
		c.rotations[turn.Set] = s
	}
	c.copyLocked(turn.Set, s)
	if !s.applied {
		s.applied, s.phase, s.start = true, turn.Phase, nil
		c.appliedRotations++
		if c.appliedRotations > maxRotations {
			c.dropLeastRecentlyUsedRotation()
		}
	}
	s.countAppliedTurn(turn.Member)
	s.endReservedTurnLocked(turn.Member)
	s.lastTurn = seq
	c.appliedTurns++
}

// countAppliedTurn adds one turn to the member's count.
func (s *rotationTurnCounts) countAppliedTurn(member uint32) {
	if s.countsShared {
		s.counts, s.countsShared = slices.Clone(s.counts), false
	}
	for len(s.counts) <= int(member) {
		s.counts = append(s.counts, 0)
	}
	s.counts[member]++
}

// dropLeastRecentlyUsedRotation forgets the counts of the rotation with the oldest last turn.
// The rotation that is being added has no last turn yet and stays. Reserved turns stay as well.
func (c *campaignRotations) dropLeastRecentlyUsedRotation() {
	var oldest uint64
	var victim *rotationTurnCounts
	for set, s := range c.rotations {
		if s.applied && s.lastTurn != 0 && (victim == nil || s.lastTurn < victim.lastTurn) {
			oldest, victim = set, s
		}
	}
	if victim == nil {
		return
	}
	c.copyLocked(oldest, victim)
	c.appliedRotations--
	if victim.pendingTotal == 0 {
		delete(c.rotations, oldest)
		return
	}
	victim.applied, victim.counts, victim.lastTurn = false, nil, 0
}

// getOrCreateRotations returns the campaign's rotations, and creates them if necessary.
func (t *campaignRotationTable) getOrCreateRotations(campaign market.PermanentNumber) *campaignRotations {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.byCampaign[campaign]
	if c == nil {
		c = newCampaignRotations()
		t.byCampaign[campaign] = c
	}
	return c
}

func newCampaignRotations() *campaignRotations {
	return &campaignRotations{rotations: make(map[uint64]*rotationTurnCounts)}
}

// nextMemberIndex returns the member whose turn is next, counting applied and reserved turns. See
// campaignRotationTable for the rule.
func (s *rotationTurnCounts) nextMemberIndex(weights []int32) int {
	if s.start == nil {
		s.start = initialTurnCounts(weights, s.phase)
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

// totalTurnsOf returns the member's turns: those before the rotation's start position, those applied,
// and those reserved.
func (s *rotationTurnCounts) totalTurnsOf(memberIndex int) (startAppliedAndReserved int64) {
	n := int64(0)
	if memberIndex < len(s.start) {
		n += int64(s.start[memberIndex])
	}
	if memberIndex < len(s.counts) {
		n += int64(s.counts[memberIndex])
	}
	if memberIndex < len(s.pending) {
		n += int64(s.pending[memberIndex])
	}
	return n
}

// maxInitialTurnSteps limits the work of initialTurnCounts: the simulated turns multiplied by the
// number of members.
const maxInitialTurnSteps = 1 << 16

// initialTurnCounts returns each member's number of turns before the position at which a new rotation
// begins. It maps the phase, an evenly spread 32-bit hash, to a position in the cycle.
func initialTurnCounts(weights []int32, startPositionHash uint32) []uint32 {
	counts := make([]uint32, len(weights))
	var sum int64
	equal := true
	for _, w := range weights {
		sum += int64(w)
		equal = equal && w == weights[0]
	}
	if equal {
		high, _ := bits.Mul64(uint64(startPositionHash)<<32, uint64(len(weights)))
		for i := range int(high) {
			counts[i] = 1
		}
		return counts
	}
	steps := min(sum, max(1, maxInitialTurnSteps/int64(len(weights))))
	high, _ := bits.Mul64(uint64(startPositionHash)<<32, uint64(steps))
	s := rotationTurnCounts{start: counts}
	for range int(high) {
		counts[s.nextMemberIndex(weights)]++
	}
	return counts
}

func (t *campaignRotationTable) sumOfEntryHashes() (sum uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for campaign, c := range t.byCampaign {
		c.mu.Lock()
		sum += c.sumOfEntryHashesLocked(campaign)
		c.mu.Unlock()
	}
	return sum
}

func (c *campaignRotations) sumOfEntryHashesLocked(campaign market.PermanentNumber) (sum uint64) {
	if c.appliedTurns == 0 {
		return 0
	}
	sum = newRunningHash(6).addWord(uint64(campaign)).addWord(c.appliedTurns).sum()
	for set, s := range c.rotations {
		if !s.applied {
			continue
		}
		d := newRunningHash(7).addWord(uint64(campaign)).addWord(set).addWord(uint64(s.phase)).addWord(s.lastTurn)
		for _, n := range s.counts {
			d = d.addWord(uint64(n))
		}
		sum += d.sum()
	}
	return sum
}
