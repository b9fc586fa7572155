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

// cycle is smooth weighted turns as they are usually written down: every member
// gains its weight each turn, the richest takes it and pays for all.
type cycle struct {
	weights, credit []int64
	sum             int64
}

func newCycle(weights []int32) *cycle {
	c := &cycle{credit: make([]int64, len(weights))}
	for _, w := range weights {
		c.weights = append(c.weights, int64(w))
		c.sum += int64(w)
	}
	return c
}

func (c *cycle) turn() (taker int) {
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

func someWeights(most int) *rapid.Generator[[]int32] {
	return rapid.OneOf(
		rapid.SliceOfN(rapid.Int32Range(1, 9), 1, most),
		rapid.SliceOfN(rapid.SampledFrom([]int32{6, 10, 15, 30}), 1, most),
		rapid.SliceOfN(rapid.Just(int32(1)), 1, most),
		rapid.SliceOfN(rapid.SampledFrom([]int32{1, 100}), 1, min(most, 4)),
	)
}

// takeTurn is a whole turn: taken, made a fact, and its reservation ended.
func (w *world) takeTurn(set uint64, weights []int32) int {
	var h RequestReservations
	turn := w.ReserveRotationTurn(&h, 1, set, weights)
	w.seq++
	w.rotations.countTurnAndEndReservation(1, turn, w.seq)
	w.ReleaseAll(&h)
	return int(turn.Member)
}

// Buyers come and go. Whoever is eligible together splits every stretch of
// sum(weights) turns exactly, wherever it begins, whatever came in between, and
// after restarts.
func TestEveryStretchOfTurnsIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		all := someWeights(7).Draw(t, "weights")
		taken := map[uint64][]int{}
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			set := rapid.Uint64Range(1, 1<<len(all)-1).Draw(t, "eligible")
			var weights []int32
			for rest := set; rest > 0; rest &= rest - 1 {
				weights = append(weights, all[bits.TrailingZeros64(rest)])
			}
			sum := total(weights)
			for range rapid.IntRange(0, 2*sum).Draw(t, "turns") {
				taken[set] = append(taken[set], w.takeTurn(set, weights))
				if len(taken[set]) < sum {
					continue
				}
				counts := make([]int32, len(weights))
				for _, member := range taken[set][len(taken[set])-sum:] {
					counts[member]++
				}
				if !slices.Equal(counts, weights) {
					t.Fatalf("of %d turns by weights %v members had %v", sum, weights, counts)
				}
			}
			if rapid.IntRange(0, 4).Draw(t, "restart") == 0 {
				var body snapshotSectionCodec
				w.rotations.encodeOrDecodeSnapshot(&body)
				w.rotations.byCampaign = map[market.PermanentNumber]*campaignRotations{}
				w.rotations.encodeOrDecodeSnapshot(&snapshotSectionCodec{decoding: true, buf: body.buf})
			}
		}
		if w.ReservationCount() != 0 {
			t.Fatal("turns are reserved that nobody takes")
		}
	})
}

// The first of a set is not always the same member, or many sets that are seen
// once each would favour it.
func TestASetBeginsSomewhereInItsCycle(t *testing.T) {
	w := newWorld()
	weights := []int32{2, 1, 1}
	first := make([]int, len(weights))
	const sets = 4000
	for set := range uint64(sets) {
		first[w.takeTurn(set<<8|1, weights)]++
	}
	for member, weight := range weights {
		share := sets * int(weight) / total(weights)
		if first[member] < share*8/10 || first[member] > share*12/10 {
			t.Errorf("member %d was first of %d sets in %d, its share is %d", member, sets, first[member], share)
		}
	}
}

func TestStartCountsAreThoseOfTheCycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := someWeights(9).Draw(t, "weights")
		phase := rapid.Uint32().Draw(t, "phase")
		steps := int(uint64(phase) * uint64(total(weights)) >> 32)
		want := make([]uint32, len(weights))
		simulation := newCycle(weights)
		if equal := slices.Min(weights) == slices.Max(weights); equal {
			steps = int(uint64(phase) * uint64(len(weights)) >> 32)
		}
		for range steps {
			want[simulation.turn()]++
		}
		got := initialTurnCounts(weights, phase)
		if !slices.Equal(got, want) {
			t.Fatalf("%d steps into the cycle of %v: %v, want %v", steps, weights, got, want)
		}
		s := rotationTurnCounts{start: got}
		for range total(weights) {
			if member, want := s.nextMemberIndex(weights), simulation.turn(); member != want {
				t.Fatalf("after %v the turn of %v goes to %d, in the cycle to %d", got, weights, member, want)
			} else {
				s.countAppliedTurn(uint32(member))
			}
		}
	})
}

// A cycle that is long is entered near its beginning, at a bounded cost.
func TestAStartIsNotTooFarAway(t *testing.T) {
	weights := make([]int32, 1000)
	for i := range weights {
		weights[i] = int32(1000 + i)
	}
	turns := uint32(0)
	for _, n := range initialTurnCounts(weights, 1<<32-1) {
		turns += n
	}
	if want := uint32(startWork/len(weights) - 1); turns != want {
		t.Errorf("entered after %d turns, want %d", turns, want)
	}
}

// Many at once: as long as none is given back, what is applied and what is in
// flight are together the first turns of the cycle, so that what is applied
// differs from it by no more than what is in flight.
func TestTurnsInFlight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		weights := someWeights(6).Draw(t, "weights")
		exact := newCycle(weights)
		counts, applied := make([]int, len(weights)), make([]int, len(weights))
		var flying []*RequestReservations
		begun := false
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "land") && len(flying) > 0 {
				i := rapid.IntRange(0, len(flying)-1).Draw(t, "which")
				w.seq++
				applied[flying[i].sale.turn.Member]++
				w.rotations.countTurnAndEndReservation(1, flying[i].sale.turn, w.seq)
				w.ReleaseAfterApply(flying[i])
				flying = append(flying[:i], flying[i+1:]...)
			} else {
				h := new(RequestReservations)
				turn := w.ReserveRotationTurn(h, 1, 7, weights)
				if !begun { // enter the cycle where the set does
					begun = true
					for _, n := range initialTurnCounts(weights, turn.Phase) {
						for range n {
							exact.turn()
						}
					}
				}
				counts[exact.turn()]++
				flying = append(flying, h)
			}
			missing := 0
			for i := range counts {
				if applied[i] > counts[i] {
					t.Fatalf("member %d took %d turns, %d are its own", i, applied[i], counts[i])
				}
				missing += counts[i] - applied[i]
			}
			if missing != len(flying) {
				t.Fatalf("%d turns away from the cycle, %d in flight", missing, len(flying))
			}
		}
	})
}

// Where turns are given back too, the members stay as near to their shares.
func TestTurnsGivenBackDoNotAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		weights := someWeights(6).Draw(t, "weights")
		sum, most := total(weights), rapid.IntRange(1, 20).Draw(t, "in flight at most")
		applied := make([]int, len(weights))
		turns := 0
		var flying []*RequestReservations
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			if len(flying) < most && rapid.Bool().Draw(t, "take") {
				h := new(RequestReservations)
				w.ReserveRotationTurn(h, 1, 7, weights)
				flying = append(flying, h)
				continue
			}
			if len(flying) == 0 {
				continue
			}
			i := rapid.IntRange(0, len(flying)-1).Draw(t, "which")
			if rapid.Bool().Draw(t, "taken") {
				w.seq++
				applied[flying[i].sale.turn.Member]++
				turns++
				w.rotations.countTurnAndEndReservation(1, flying[i].sale.turn, w.seq)
				w.ReleaseAfterApply(flying[i])
			}
			w.ReleaseAll(flying[i])
			flying = append(flying[:i], flying[i+1:]...)
			for member, n := range applied {
				off := n*sum - turns*int(weights[member])
				// Two for the start and the end of the stretch, within the cycle.
				if bound := (most + 2) * sum; off > bound || -off > bound {
					t.Fatalf("member %d of %v had %d of %d turns with at most %d in flight", member, weights, n, turns, most)
				}
			}
		}
	})
}

func TestTurnsMayBeAppliedInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := someWeights(6).Draw(t, "weights")
		one, other := newWorld(), newWorld()
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
			t.Fatalf("%v from phase %d, and %v from phase %d", a.counts, a.phase, b.counts, b.phase)
		}
		a.pending = nil // the reservations end
		if next := a.nextMemberIndex(weights); next != b.nextMemberIndex(weights) {
			t.Fatalf("then %d and %d have the next turn", next, b.nextMemberIndex(weights))
		}
	})
}

// More sets than are kept: which are forgotten is a matter of the facts alone,
// not of what requests have reserved meanwhile.
func TestTheSetsThatAreForgottenAreThoseOfTheLog(t *testing.T) {
	weights := []int32{1, 2, 1}
	busy := newWorld()
	var log []event.RotationTurn
	var flying []*RequestReservations
	dice := rand.New(rand.NewPCG(1, 2))
	for n := range uint64(4 * maxRotations) {
		set := dice.Uint64N(2*maxRotations)<<1 | 1
		if n%3 == 0 {
			h := new(RequestReservations)
			busy.ReserveRotationTurn(h, 1, set+2, weights)
			flying = append(flying, h)
		}
		var h RequestReservations
		turn := busy.ReserveRotationTurn(&h, 1, set, weights)
		busy.rotations.countTurnAndEndReservation(1, turn, n+1)
		busy.ReleaseAll(&h)
		log = append(log, turn)
		if len(flying) > 500 {
			busy.ReleaseAll(flying[n%500])
			flying = slices.Delete(flying, int(n%500), int(n%500)+1)
		}
	}
	quiet := newWorld()
	for i, turn := range log {
		quiet.rotations.countTurnAndEndReservation(1, turn, uint64(i+1))
	}
	if busy.rotations.sumOfEntryHashes() != quiet.rotations.sumOfEntryHashes() {
		t.Error("a replay has forgotten other sets")
	}
	for _, h := range flying {
		busy.ReleaseAll(h)
	}
	for name, w := range map[string]*State{"live": busy.State, "replayed": quiet.State, "loaded": loaded(t, quiet.State)} {
		if c := w.rotations.byCampaign[1]; c.appliedRotations != maxRotations || len(c.rotations) != maxRotations {
			t.Errorf("%s: %d sets known, %d kept, want %d", name, c.appliedRotations, len(c.rotations), maxRotations)
		}
	}
	if busy.ReservationCount() != 0 || busy.rotations.sumOfEntryHashes() != quiet.rotations.sumOfEntryHashes() {
		t.Error("reservations that ended have left something behind")
	}
}

func TestASetThatOnlyReservationsKnowGoesWithThem(t *testing.T) {
	w := newWorld()
	_, before := w.Hash()
	var h RequestReservations
	w.ReserveRotationTurn(&h, 1, 7, []int32{1, 1})
	if _, now := w.Hash(); now != before {
		t.Error("a reservation is in the hash")
	}
	w.ReleaseAll(&h)
	if n := len(w.rotations.byCampaign[1].rotations); n != 0 {
		t.Errorf("%d sets that nobody knows", n)
	}
}

// Between a fact's application and the end of its hold a turn counts once.
func TestTurnCountsOnceWhileItsFactIsApplied(t *testing.T) {
	w := newWorld()
	var first, second, third RequestReservations
	even := []int32{1, 1}
	taken := w.ReserveRotationTurn(&first, 1, 7, even)
	w.rotations.countTurnAndEndReservation(1, taken, 1)
	if a, b := w.ReserveRotationTurn(&second, 1, 7, even), w.ReserveRotationTurn(&third, 1, 7, even); a.Member == taken.Member || b.Member != taken.Member {
		t.Errorf("turns went to %d, %d, %d", taken.Member, a.Member, b.Member)
	}
	w.ReleaseAfterApply(&first)
	w.ReleaseAll(&second)
	w.ReleaseAll(&third)
	if n := w.ReservationCount(); n != 0 {
		t.Errorf("%d reservations are out", n)
	}
}
