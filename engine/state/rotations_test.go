package state

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// weightedCycle is the usual algorithm of smooth weighted turns: every member gains its weight
// each turn, and the member with the highest credit takes the turn and pays the sum of all
// weights.
type weightedCycle struct {
	weights, credit []int64
	sum             int64
}

func newWeightedCycle(weights []int32) *weightedCycle {
	c := &weightedCycle{credit: make([]int64, len(weights))}
	for _, w := range weights {
		c.weights = append(c.weights, int64(w))
		c.sum += int64(w)
	}
	return c
}

func (c *weightedCycle) turn() (taker int) {
	for i, w := range c.weights {
		c.credit[i] += w
		if c.credit[i] > c.credit[taker] {
			taker = i
		}
	}
	c.credit[taker] -= c.sum
	return taker
}

func total(weights []int32) (sum int) {
	for _, w := range weights {
		sum += int(w)
	}
	return sum
}

func drawWeights(most int) *rapid.Generator[[]int32] {
	return rapid.OneOf(
		rapid.SliceOfN(rapid.Int32Range(1, 9), 1, most),
		rapid.SliceOfN(rapid.SampledFrom([]int32{6, 10, 15, 30}), 1, most),
		rapid.SliceOfN(rapid.Just(int32(1)), 1, most),
		rapid.SliceOfN(rapid.SampledFrom([]int32{1, 100}), 1, min(most, 4)),
	)
}

// applyTurn reserves a turn, applies it and ends its reservation.
func (x *testExchange) applyTurn(set uint64, weights []int32) int {
	var h RequestReservations
	turn := x.ReserveRotationTurn(&h, 1, set, weights)
	x.seq++
	x.rotations.countTurnAndEndReservation(1, turn, x.seq)
	x.ReleaseAll(&h)
	return int(turn.Member)
}

// The set of eligible members changes. The members of one set split any sum(weights) consecutive
// turns of that set exactly by weight, also with turns of other sets in between and after
// restarts.
func TestTurnsOfSetAreFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newTestExchange()
		all := drawWeights(7).Draw(t, "weights")
		taken := map[uint64][]int{}
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			set := rapid.Uint64Range(1, 1<<len(all)-1).Draw(t, "eligible")
			var weights []int32
			for rest := set; rest > 0; rest &= rest - 1 {
				weights = append(weights, all[bits.TrailingZeros64(rest)])
			}
			sum := total(weights)
			for range rapid.IntRange(0, 2*sum).Draw(t, "turns") {
				taken[set] = append(taken[set], x.applyTurn(set, weights))
				if len(taken[set]) < sum {
					continue
				}
				counts := make([]int32, len(weights))
				for _, member := range taken[set][len(taken[set])-sum:] {
					counts[member]++
				}
				if !slices.Equal(counts, weights) {
					t.Fatalf("of %d turns by weights %v the members got %v", sum, weights, counts)
				}
			}
			if rapid.IntRange(0, 4).Draw(t, "restart") == 0 {
				var body snapshotSectionCodec
				x.rotations.snapshot++
				x.rotations.encodeOrDecodeSnapshot(&body)
				x.rotations.byCampaign, x.rotations.snapshot = map[market.PermanentNumber]*campaignRotations{}, 0
				x.rotations.encodeOrDecodeSnapshot(&snapshotSectionCodec{decoding: true, buf: body.buf})
			}
		}
		if x.ReservationCount() != 0 {
			t.Fatal("reservations are left")
		}
	})
}

// If all sets started with the same member, many sets that occur once would favour it.
func TestSetsStartAtDifferentMembers(t *testing.T) {
	x := newTestExchange()
	weights := []int32{2, 1, 1}
	first := make([]int, len(weights))
	const sets = 4000
	for set := range uint64(sets) {
		first[x.applyTurn(set<<8|1, weights)]++
	}
	for member, weight := range weights {
		share := sets * int(weight) / total(weights)
		if first[member] < share*8/10 || first[member] > share*12/10 {
			t.Errorf("member %d starts %d sets in %d, want about %d", member, sets, first[member], share)
		}
	}
}

func TestInitialTurnCountsMatchCycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := drawWeights(9).Draw(t, "weights")
		phase := rapid.Uint32().Draw(t, "phase")
		steps := int(uint64(phase) * uint64(total(weights)) >> 32)
		want := make([]uint32, len(weights))
		simulation := newWeightedCycle(weights)
		if equal := slices.Min(weights) == slices.Max(weights); equal {
			steps = int(uint64(phase) * uint64(len(weights)) >> 32)
		}
		for range steps {
			want[simulation.turn()]++
		}
		got := initialTurnCounts(weights, phase)
		if !slices.Equal(got, want) {
			t.Fatalf("counts after %d turns with weights %v: got %v, want %v", steps, weights, got, want)
		}
		s := rotationTurnCounts{start: got}
		for range total(weights) {
			if member, want := s.nextMemberIndex(weights), simulation.turn(); member != want {
				t.Fatalf("after %v with weights %v: next member %d, want %d", got, weights, member, want)
			} else {
				s.countAppliedTurn(uint32(member))
			}
		}
	})
}

// A long cycle starts near its beginning, at a limited cost.
func TestInitialTurnCountsAreLimited(t *testing.T) {
	weights := make([]int32, 1000)
	for i := range weights {
		weights[i] = int32(1000 + i)
	}
	turns := uint32(0)
	for _, n := range initialTurnCounts(weights, 1<<32-1) {
		turns += n
	}
	if want := uint32(maxInitialTurnSteps/len(weights) - 1); turns != want {
		t.Errorf("starts after %d turns, want %d", turns, want)
	}
}

// Many turns are reserved at once and not released. Applied and reserved turns together are
// the first turns of the cycle.
func TestAppliedAndReservedTurnsMatchCycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newTestExchange()
		weights := drawWeights(6).Draw(t, "weights")
		exact := newWeightedCycle(weights)
		counts, applied := make([]int, len(weights)), make([]int, len(weights))
		var inFlight []*RequestReservations
		started := false
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "apply") && len(inFlight) > 0 {
				i := rapid.IntRange(0, len(inFlight)-1).Draw(t, "which")
				x.seq++
				applied[inFlight[i].sale.turn.Member]++
				x.rotations.countTurnAndEndReservation(1, inFlight[i].sale.turn, x.seq)
				x.ReleaseAllAfterApply(inFlight[i])
				inFlight = append(inFlight[:i], inFlight[i+1:]...)
			} else {
				h := new(RequestReservations)
				turn := x.ReserveRotationTurn(h, 1, 7, weights)
				if !started { // start the cycle where the set starts
					started = true
					for _, n := range initialTurnCounts(weights, turn.Phase) {
						for range n {
							exact.turn()
						}
					}
				}
				counts[exact.turn()]++
				inFlight = append(inFlight, h)
			}
			missing := 0
			for i := range counts {
				if applied[i] > counts[i] {
					t.Fatalf("member %d has %d applied turns, want at most %d", i, applied[i], counts[i])
				}
				missing += counts[i] - applied[i]
			}
			if missing != len(inFlight) {
				t.Fatalf("%d turns of the cycle are not applied, but %d are in flight", missing, len(inFlight))
			}
		}
	})
}

// The members get their shares also if turns are released.
func TestReleasedTurnsKeepShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newTestExchange()
		weights := drawWeights(6).Draw(t, "weights")
		sum, most := total(weights), rapid.IntRange(1, 20).Draw(t, "in flight at most")
		applied := make([]int, len(weights))
		turns := 0
		var inFlight []*RequestReservations
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			if len(inFlight) < most && rapid.Bool().Draw(t, "reserve") {
				h := new(RequestReservations)
				x.ReserveRotationTurn(h, 1, 7, weights)
				inFlight = append(inFlight, h)
				continue
			}
			if len(inFlight) == 0 {
				continue
			}
			i := rapid.IntRange(0, len(inFlight)-1).Draw(t, "which")
			if rapid.Bool().Draw(t, "applied") {
				x.seq++
				applied[inFlight[i].sale.turn.Member]++
				turns++
				x.rotations.countTurnAndEndReservation(1, inFlight[i].sale.turn, x.seq)
				x.ReleaseAllAfterApply(inFlight[i])
			}
			x.ReleaseAll(inFlight[i])
			inFlight = append(inFlight[:i], inFlight[i+1:]...)
			for member, n := range applied {
				off := n*sum - turns*int(weights[member])
				// Two more for the first and the last cycle, which may be incomplete.
				if bound := (most + 2) * sum; off > bound || -off > bound {
					t.Fatalf("member %d of weights %v got %d of %d turns with at most %d in flight", member, weights, n, turns, most)
				}
			}
		}
	})
}

func TestTurnsApplyInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := drawWeights(6).Draw(t, "weights")
		one, other := newTestExchange(), newTestExchange()
		var turns []event.RotationTurn
		for range rapid.IntRange(1, 40).Draw(t, "turns") {
			turns = append(turns, one.ReserveRotationTurn(new(RequestReservations), 1, 7, weights))
		}
		for i, turn := range turns {
			one.rotations.countTurnAndEndReservation(1, turn, uint64(i))
		}
		for i, turn := range rapid.Permutation(turns).Draw(t, "order") {
			other.rotations.countTurnAndEndReservation(1, turn, uint64(i))
		}
		a, b := one.rotations.byCampaign[1].rotations[7], other.rotations.byCampaign[1].rotations[7]
		if !slices.Equal(a.counts, b.counts) || a.phase != b.phase {
			t.Fatalf("counts %v at phase %d, in the other order %v at phase %d", a.counts, a.phase, b.counts, b.phase)
		}
		a.pending = nil // the reservations end
		if next := a.nextMemberIndex(weights); next != b.nextMemberIndex(weights) {
			t.Fatalf("next member %d, in the other order %d", next, b.nextMemberIndex(weights))
		}
	})
}

// There are more sets than are kept. Events alone decide which sets are forgotten, not
// reservations in between.
func TestOnlyEventsDecideForgottenSets(t *testing.T) {
	weights := []int32{1, 2, 1}
	busy := newTestExchange()
	var log []event.RotationTurn
	var inFlight []*RequestReservations
	random := rand.New(rand.NewPCG(1, 2))
	for n := range uint64(4 * maxRotations) {
		set := random.Uint64N(2*maxRotations)<<1 | 1
		if n%3 == 0 {
			h := new(RequestReservations)
			busy.ReserveRotationTurn(h, 1, set+2, weights)
			inFlight = append(inFlight, h)
		}
		var h RequestReservations
		turn := busy.ReserveRotationTurn(&h, 1, set, weights)
		busy.rotations.countTurnAndEndReservation(1, turn, n+1)
		busy.ReleaseAll(&h)
		log = append(log, turn)
		if len(inFlight) > 500 {
			busy.ReleaseAll(inFlight[n%500])
			inFlight = slices.Delete(inFlight, int(n%500), int(n%500)+1)
		}
	}
	quiet := newTestExchange()
	for i, turn := range log {
		quiet.rotations.countTurnAndEndReservation(1, turn, uint64(i+1))
	}
	if busy.rotations.sumOfEntryHashes() != quiet.rotations.sumOfEntryHashes() {
		t.Error("a replay forgot other sets")
	}
	for _, h := range inFlight {
		busy.ReleaseAll(h)
	}
	for name, x := range map[string]*State{"live": busy.State, "replayed": quiet.State, "loaded": restoreFromSnapshot(t, quiet.State)} {
		if c := x.rotations.byCampaign[1]; c.appliedRotations != maxRotations || len(c.rotations) != maxRotations {
			t.Errorf("%s: %d applied sets, %d kept, want %d", name, c.appliedRotations, len(c.rotations), maxRotations)
		}
	}
	if busy.ReservationCount() != 0 || busy.rotations.sumOfEntryHashes() != quiet.rotations.sumOfEntryHashes() {
		t.Error("ended reservations changed the state")
	}
}

func TestSetOfReservationsEndsWithThem(t *testing.T) {
	x := newTestExchange()
	_, before := x.Hash()
	var h RequestReservations
	x.ReserveRotationTurn(&h, 1, 7, []int32{1, 1})
	if _, now := x.Hash(); now != before {
		t.Error("a reservation changes the hash")
	}
	x.ReleaseAll(&h)
	if n := len(x.rotations.byCampaign[1].rotations); n != 0 {
		t.Errorf("%d sets are left, want 0", n)
	}
}

// A turn counts once between the application of its event and the end of its reservation.
func TestTurnCountsOnceDuringApply(t *testing.T) {
	x := newTestExchange()
	var first, second, third RequestReservations
	even := []int32{1, 1}
	taken := x.ReserveRotationTurn(&first, 1, 7, even)
	x.rotations.countTurnAndEndReservation(1, taken, 1)
	if a, b := x.ReserveRotationTurn(&second, 1, 7, even), x.ReserveRotationTurn(&third, 1, 7, even); a.Member == taken.Member || b.Member != taken.Member {
		t.Errorf("turns went to %d, %d, %d", taken.Member, a.Member, b.Member)
	}
	x.ReleaseAllAfterApply(&first)
	x.ReleaseAll(&second)
	x.ReleaseAll(&third)
	if n := x.ReservationCount(); n != 0 {
		t.Errorf("%d reservations are left, want 0", n)
	}
}
