package engine

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/internal/must"
	"pingpost/internal/timer"
)

// lineLog applies each entry where it is appended: one after the other.
type lineLog struct{ seq uint64 }

func (l *lineLog) Append(_ []byte, w CommitWaiter) error {
	l.seq++
	w.Committed(l.seq, time.Now().UnixNano())
	return nil
}

type timePorts struct{}

func (timePorts) Now() int64 { return time.Now().UnixNano() }
func (timePorts) Timer(d time.Duration) (<-chan time.Time, func() bool) {
	return timer.New(d)
}

func (timePorts) Post(*market.PostRequest) market.PostResult {
	return market.PostResult{Verdict: market.VerdictAccepted, Status: 201}
}

func (timePorts) Ping(*market.PingRequest) market.PingResult {
	return market.PingResult{Outcome: market.OutcomeNoBid, Status: 200}
}

// withUnknown is an engine with one delivery whose fate is unknown.
func withUnknown(t *testing.T) (*Engine, market.LeadID) {
	t.Helper()
	e, id := withOpen(t)
	must.Succeed(t, e.commit(&event.PostSettled{Lead: id, Settlement: event.SettledUnknown, Sale: event.Sale{Buyer: 1}, Attempts: 6}, nil))
	return e, id
}

// withOpen is an engine with one open intent that nobody has taken up.
func withOpen(t *testing.T) (*Engine, market.LeadID) {
	t.Helper()
	e := New(Options{State: state.New(), Log: new(lineLog), Buyers: timePorts{}, Clock: timePorts{}, Entropy: func([]byte) {}})
	id := market.LeadID{7}
	for _, fact := range []event.Event{
		&event.ConfigNumbersAssigned{Names: []event.NameNumberAssignment{{Kind: event.ObjectBuyer, Ref: 1, ID: "blue"}}},
		&event.LeadDecided{Lead: id, Sale: event.Sale{Buyer: 1}, Post: event.PostIntent{URL: "https://blue.example", Timeout: 1e9, Repeatable: true}, Keep: 1 << 60, Sealed: (&event.LeadPersonalData{Body: []byte("{}")}).AppendEncoded(nil)},
	} {
		must.Succeed(t, e.commit(fact, nil))
	}
	return e, id
}

// The fact that a fate is unknown can be seen before the courier who settled it
// has gone. An operator who is so quick is told to wait, no more.
func TestOperatorMeetsTheCourier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, id := withUnknown(t)
		d := must.Value(e.registerDelivery(id))(t)
		for _, how := range []event.PostSettlement{event.SettledConfirmed, event.SettledReleased, event.SettledResent} {
			if err := e.AsOperator("").ResolveUnconfirmedDelivery(id, how); !errors.Is(err, ErrConflict) {
				t.Errorf("%s: %v", how, err)
			}
		}
		d.End()
		if err := e.AsOperator("").ResolveUnconfirmedDelivery(id, event.SettledConfirmed); err != nil {
			t.Error(err)
		}
		e.Close()
		if err := e.AsOperator("").ResolveUnconfirmedDelivery(id, event.SettledConfirmed); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	})
}

// Before the start has taken up what is open, that is no operator's matter.
func TestOperatorComesBeforeRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, id := withOpen(t)
		if err := e.AsOperator("").ResolveUnconfirmedDelivery(id, event.SettledReleased); !errors.Is(err, ErrConflict) {
			t.Error(err)
		}
		e.Close()
	})
}

// An operator may have sent a delivery again before the start takes up what
// is open.
func TestRecoveryLeavesWhatIsTakenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, id := withUnknown(t)
		must.Succeed(t, e.AsOperator("").ResolveUnconfirmedDelivery(id, event.SettledResent))
		must.Succeed(t, e.RecoverErasuresAndDeliveries())
		time.Sleep(time.Second)
		if lead, _ := e.state.Lead(id); lead.Delivery != market.DeliveryDone {
			t.Errorf("delivery %s", lead.Delivery)
		}
		e.Close()
	})
}
