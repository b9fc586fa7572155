package state

import (
	"slices"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// waits is a report of so many returns that wait, of leads from first on.
func waits(first byte, leads int) *event.LeadStatusesChanged {
	fact := &event.LeadStatusesChanged{Buyer: 1}
	for i := range leads {
		fact.Changes = append(fact.Changes, event.LeadStatusChange{Lead: market.LeadID{15: first + byte(i)}, Result: event.ChangePending, To: market.StatusReturned})
	}
	return fact
}

func word(lead byte, result event.LeadStatusChangeResult) *event.LeadStatusesChanged {
	return &event.LeadStatusesChanged{Buyer: 1, Changes: []event.LeadStatusChange{{Lead: market.LeadID{15: lead}, Result: result, To: market.StatusReturned, WasPending: true}}}
}

// Returns wait from when they are asked for until they are decided, the oldest
// leads first, over a snapshot as well.
func TestReturnsWait(t *testing.T) {
	facts := []struct {
		what string
		fact *event.LeadStatusesChanged
		want []byte
	}{
		{"three ask", waits(5, 3), []byte{5, 6, 7}},
		{"one more", waits(2, 1), []byte{2, 5, 6, 7}},
		{"approved", word(6, event.ChangeDone), []byte{2, 5, 7}},
		{"refused", word(2, event.ChangeRefused), []byte{5, 7}},
		{"a lead that comes to something else", &event.LeadStatusesChanged{Changes: []event.LeadStatusChange{{Lead: market.LeadID{15: 8}, Result: event.ChangeDone, To: market.StatusSold}}}, []byte{5, 7}},
	}
	s := New()
	for i, step := range facts {
		seq, at := uint64(i+1), int64(i)*int64(time.Second)
		s.Apply(seq, at, step.fact)
		again := loaded(t, s)
		for _, s := range []*State{s, again} {
			var got []byte
			for _, lead := range s.LeadsWithPendingReturn() {
				got = append(got, lead[15])
			}
			if !slices.Equal(got, step.want) || s.PendingReturnCount() != len(got) {
				t.Errorf("%s: %v wait, %d in all, want %v", step.what, got, s.PendingReturnCount(), step.want)
			}
		}
		if w, ok := again.PendingReturnRequest(market.LeadID{15: 5}); !ok || w != (PendingReturnRequest{1, 0}) {
			t.Errorf("%s: %+v, %v", step.what, w, ok)
		}
	}
	if _, ok := s.PendingReturnRequest(market.LeadID{15: 6}); ok {
		t.Error("an approved return waits")
	}
}

// What nobody decides for two years is forgotten, once a day at most.
func TestReturnsDoNotWaitForEver(t *testing.T) {
	s := New()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	s.Apply(1, start, waits(1, 2))
	s.Apply(2, start+monthRetention, waits(3, 1))
	if n := len(s.LeadsWithPendingReturn()); n != 3 {
		t.Errorf("%d wait", n)
	}
	s.Apply(3, start+monthRetention+1, waits(4, 1)) // the day was swept
	if n := len(s.LeadsWithPendingReturn()); n != 4 {
		t.Errorf("%d wait", n)
	}
	s.Apply(4, start+monthRetention+int64(24*time.Hour), waits(5, 1))
	if got := s.LeadsWithPendingReturn(); len(got) != 3 || got[0][15] != 3 {
		t.Errorf("%v wait", got)
	}
}
