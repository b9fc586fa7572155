package webhook

import "testing"

// nextEndpoint finds an endpoint that became fast or slow while it was queued, whichever
// queue it tries first.
func TestNextEndpointFindsChangedEndpoint(t *testing.T) {
	for _, becomes := range []bool{false, true} {
		for turn := range 2 {
			s := &Sender{options: Options{MaxTotal: 6}, lastQueue: turn}
			l := &endpoint{slow: !becomes, queued: true}
			s.ready[queueIndex(l.slow)].push(l)
			l.slow = becomes
			if got := s.popReadyEndpoint(); got != l || l.queued {
				t.Errorf("slow %t, turn %d: picked %v", becomes, turn, got)
			}
			if again := s.popReadyEndpoint(); again != nil {
				t.Errorf("slow %t, turn %d: picked twice", becomes, turn)
			}
		}
	}
}

// Slow endpoints have at most half of the places, and at least one.
func TestSlowEndpointsUseHalfOfThePlaces(t *testing.T) {
	for places, most := range map[int]int{1: 1, 2: 1, 6: 3, 7: 3} {
		s := &Sender{options: Options{MaxTotal: places}}
		for range places {
			s.ready[1].push(&endpoint{slow: true, queued: true})
		}
		for s.popReadyEndpoint() != nil {
			s.slowInFlight++
		}
		if s.slowInFlight != most {
			t.Errorf("%d places: %d are for slow lanes, want %d", places, s.slowInFlight, most)
		}
	}
}
