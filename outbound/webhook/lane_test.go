package webhook

import "testing"

// A lane that has become quick, or slow, since it was queued is found whichever round
// is asked first: nobody would come by for it again.
func TestALaneThatHasChangedIsPicked(t *testing.T) {
	for _, becomes := range []bool{false, true} {
		for turn := range 2 {
			s := &Sender{opt: Options{InAll: 6}, turn: turn}
			l := &lane{slow: !becomes, queued: true}
			s.ready[kind(l.slow)].push(l)
			l.slow = becomes
			if got := s.pick(); got != l || l.queued {
				t.Errorf("slow %t, turn %d: picked %v", becomes, turn, got)
			}
			if again := s.pick(); again != nil {
				t.Errorf("slow %t, turn %d: picked twice", becomes, turn)
			}
		}
	}
}

// Slow lanes have half of the places and no more, and one where there is but one.
func TestSlowLanesHaveHalfOfThePlaces(t *testing.T) {
	for places, most := range map[int]int{1: 1, 2: 1, 6: 3, 7: 3} {
		s := &Sender{opt: Options{InAll: places}}
		for range places {
			s.ready[1].push(&lane{slow: true, queued: true})
		}
		for s.pick() != nil {
			s.slow++
		}
		if s.slow != most {
			t.Errorf("%d places: %d are for slow lanes, want %d", places, s.slow, most)
		}
	}
}
