package state

import (
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// fillOutbox puts so many hooks in, of one lead each, all of one supplier.
func fillOutbox(s *State, many uint64) {
	for n := range many {
		s.enqueueWebhook(n+1, monday, 1, spread(n), market.WebhookPosted)
	}
}

// BenchmarkHooks is what a hook costs from its cause to its delivery, with so many
// others pending.
func BenchmarkHooks(b *testing.B) {
	for name, pending := range map[string]uint64{"none pending": 0, "a million pending": 1_000_000} {
		b.Run(name, func(b *testing.B) {
			s := New()
			fillOutbox(s, pending)
			next := pending
			b.ReportAllocs()
			for b.Loop() {
				next++
				s.enqueueWebhook(next, monday, 1, spread(next), market.WebhookPosted)
				h, ok := s.ClaimDueWebhook(1, monday)
				if !ok {
					b.Fatal("nothing is due")
				}
				s.applyWebhookAttempted(next, monday, &event.WebhookAttempted{Lead: h.Lead, Type: h.Type, Supplier: 1, Attempt: 1, Outcome: event.WebhookDelivered})
			}
		})
	}
}

// BenchmarkSwitchingOff is the one fact that touches every pending hook.
func BenchmarkSwitchingOff(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := New()
		fillOutbox(s, 1_000_000)
		b.StartTimer()
		s.applyWebhooksTurnedOnOrOff(2_000_000, monday, &event.SupplierWebhooksTurnedOnOrOff{Supplier: 1, Off: true})
	}
}
