package state

import (
	"slices"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// returnsRequested returns a report with pending returns of consecutive leads.
func returnsRequested(first byte, leads int) *event.LeadStatusChangesDecided {
	ev := &event.LeadStatusChangesDecided{Buyer: 1}
	for i := range leads {
		ev.Changes = append(ev.Changes, event.DecidedLeadStatusChange{Lead: market.LeadID{15: first + byte(i)}, Result: event.ChangePending, To: market.StatusReturned})
	}
	return ev
}

func returnDecision(lead byte, result event.LeadStatusChangeResult) *event.LeadStatusChangesDecided {
	return &event.LeadStatusChangesDecided{Buyer: 1, Changes: []event.DecidedLeadStatusChange{{Lead: market.LeadID{15: lead}, Result: result, To: market.StatusReturned, WasPending: true}}}
}

// Returns are pending from the request to the decision, oldest leads first, also in a snapshot.
func TestPendingReturnsUntilDecided(t *testing.T) {
	events := []struct {
		name  string
		event *event.LeadStatusChangesDecided
		want  []byte
	}{
		{"three requested", returnsRequested(5, 3), []byte{5, 6, 7}},
		{"one more requested", returnsRequested(2, 1), []byte{2, 5, 6, 7}},
		{"approved", returnDecision(6, event.ChangeDone), []byte{2, 5, 7}},
		{"refused", returnDecision(2, event.ChangeRefused), []byte{5, 7}},
		{"another lead is sold", &event.LeadStatusChangesDecided{Changes: []event.DecidedLeadStatusChange{{Lead: market.LeadID{15: 8}, Result: event.ChangeDone, To: market.StatusSold}}}, []byte{5, 7}},
	}
	s := New()
	for i, step := range events {
		seq, at := uint64(i+1), int64(i)*int64(time.Second)
		s.Apply(seq, at, step.event)
		restored := restoreFromSnapshot(t, s)
		for _, s := range []*State{s, restored} {
			var got []byte
			for _, lead := range s.LeadsWithPendingReturn() {
				got = append(got, lead[15])
			}
			if !slices.Equal(got, step.want) || s.PendingReturnCount() != len(got) {
				t.Errorf("%s: pending %v, count %d, want %v", step.name, got, s.PendingReturnCount(), step.want)
			}
		}
		if request, ok := restored.PendingReturnRequest(market.LeadID{15: 5}); !ok || request != (PendingReturnSeqAndTime{1, 0}) {
			t.Errorf("%s: %+v, %v", step.name, request, ok)
		}
	}
	if _, ok := s.PendingReturnRequest(market.LeadID{15: 6}); ok {
		t.Error("an approved return is pending")
	}
}

// Pending returns expire after two years. They are swept once a day.
func TestPendingReturnsExpire(t *testing.T) {
	s := New()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	s.Apply(1, start, returnsRequested(1, 2))
	s.Apply(2, start+monthRetention, returnsRequested(3, 1))
	if n := len(s.LeadsWithPendingReturn()); n != 3 {
		t.Errorf("%d pending returns", n)
	}
	s.Apply(3, start+monthRetention+1, returnsRequested(4, 1)) // the day was swept
	if n := len(s.LeadsWithPendingReturn()); n != 4 {
		t.Errorf("%d pending returns", n)
	}
	s.Apply(4, start+monthRetention+int64(24*time.Hour), returnsRequested(5, 1))
	if got := s.LeadsWithPendingReturn(); len(got) != 3 || got[0][15] != 3 {
		t.Errorf("pending returns %v", got)
	}
}
