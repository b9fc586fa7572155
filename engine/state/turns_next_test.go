package state

import (
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/event"
)

// Whoever looks whose turn it is sees the one who would take it, however many
// look, and leaves nothing behind. What was given back is the same member's, before anything else.
func TestALookTakesNoTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New()
		var open []*RequestReservations
		for range rapid.IntRange(1, 60).Draw(t, "turns") {
			set := rapid.Uint64Range(1, 3).Draw(t, "set")
			weights := make([]int32, 1+set)
			for i := range weights {
				weights[i] = int32(1 + i)
			}
			_, before := s.Hash()
			out := s.ReservationCount()
			next := s.PeekRotationTurn(1, set, weights)
			for range rapid.IntRange(0, 3).Draw(t, "looks") {
				if again := s.PeekRotationTurn(1, set, weights); again != next {
					t.Fatalf("the turn of %d, and on a second look of %d", next, again)
				}
			}
			if _, after := s.Hash(); after != before || s.ReservationCount() != out {
				t.Fatal("a look has left something behind")
			}
			h := new(RequestReservations)
			turn := s.ReserveRotationTurn(h, 1, set, weights)
			if turn.Member != next {
				t.Fatalf("it was the turn of %d, and %d took it", next, turn.Member)
			}
			switch rapid.IntRange(0, 2).Draw(t, "end") {
			case 0:
				s.ReleaseAll(h)
				if again := s.PeekRotationTurn(1, set, weights); again != next {
					t.Fatalf("%d gave its turn back, and %d has the next", next, again)
				}
			case 1:
				open = append(open, h)
			default:
				s.rotations.countTurnAndEndReservation(1, event.RotationTurn{Set: turn.Set, Phase: turn.Phase, Member: turn.Member}, 1)
				s.ReleaseAfterApply(h)
			}
		}
		for _, h := range open {
			s.ReleaseAll(h)
		}
	})
}
