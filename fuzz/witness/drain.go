//go:build unix

package witness

// Drain has every event delivered that is owed. What failed would be tried again
// after a minute, and then after six; an operator does not have to wait: switched
// off, what waits becomes dead letters, and these are resent.
func (s *Scene) Drain() {
	s.t.Helper()
	owed := func() (n int) {
		var standing struct{ Pending, Dead int }
		s.Ask(webhook, &standing)
		return standing.Pending + standing.Dead
	}
	must := func(word string) {
		if !s.Switch(word) {
			s.t.Fatalf("the webhook cannot be switched: %s", word)
		}
	}
	Await(s.t, "every event is delivered", func() bool {
		if owed() == 0 {
			return true
		}
		must("off")
		must("on")
		must("resend")
		left := owed()
		Await(s.t, "what was resent is tried", func() bool {
			now := owed()
			stuck := now == left
			left = now
			return now == 0 || stuck
		})
		return false
	})
}
