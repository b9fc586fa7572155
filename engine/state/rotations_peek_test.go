package state

import (
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/event"
)

// Peeking returns the member that takes the next turn, and does not change the state. A released
// turn goes to the same member first.
func TestPeekReservesNoTurn(t *testing.T) {
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
			reservations := s.ReservationCount()
			next := s.PeekRotationTurn(1, set, weights)
			for range rapid.IntRange(0, 3).Draw(t, "peeks") {
				if again := s.PeekRotationTurn(1, set, weights); again != next {
					t.Fatalf("peeked member %d, then %d", next, again)
				}
			}
			if _, after := s.Hash(); after != before || s.ReservationCount() != reservations {
				t.Fatal("a peek changed the state")
			}
			h := new(RequestReservations)
			turn := s.ReserveRotationTurn(h, 1, set, weights)
			if turn.Member != next {
				t.Fatalf("peeked member %d, but %d got the turn", next, turn.Member)
			}
			switch rapid.IntRange(0, 2).Draw(t, "end") {
			case 0:
				s.ReleaseAll(h)
				if again := s.PeekRotationTurn(1, set, weights); again != next {
					t.Fatalf("member %d released its turn, but %d has the next", next, again)
				}
			case 1:
				open = append(open, h)
			default:
				s.rotations.countTurnAndEndReservation(1, event.RotationTurn{Set: turn.Set, Phase: turn.Phase, Member: turn.Member}, 1)
				s.ReleaseAllAfterApply(h)
			}
		}
		for _, h := range open {
			s.ReleaseAll(h)
		}
	})
}
