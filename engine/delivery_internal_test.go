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

// sequentialLog commits each entry in Append.
type sequentialLog struct{ seq uint64 }

func (l *sequentialLog) Append(_ []byte, w CommitWaiter) error {
	l.seq++
	w.Committed(l.seq, time.Now().UnixNano())
	return nil
}

type testPorts struct{}

func (testPorts) Now() int64 { return time.Now().UnixNano() }
func (testPorts) Timer(d time.Duration) (<-chan time.Time, func() bool) {
	return timer.New(d)
}

func (testPorts) Post(*market.BuyerPostRequest) market.BuyerPostResult {
	return market.BuyerPostResult{Verdict: market.VerdictAccepted, Status: 201}
}

func (testPorts) Ping(*market.BuyerPingRequest) market.BuyerPingResult {
	return market.BuyerPingResult{Outcome: market.OutcomeNoBid, Status: 200}
}

// engineWithUnknownDelivery returns an engine with one unconfirmed delivery.
func engineWithUnknownDelivery(t *testing.T) (*Engine, market.LeadID) {
	t.Helper()
	e, id := engineWithOpenIntent(t)
	must.Succeed(t, e.commit(&event.PostSettled{Lead: id, Settlement: event.SettledUnknown, Sale: event.Sale{Buyer: 1}, Attempts: 6}, nil))
	return e, id
}

// engineWithOpenIntent returns an engine with one open intent that is not yet recovered.
func engineWithOpenIntent(t *testing.T) (*Engine, market.LeadID) {
	t.Helper()
	e := New(Options{State: state.New(), Log: new(sequentialLog), Buyers: testPorts{}, Clock: testPorts{}, Entropy: func([]byte) {}})
	id := market.LeadID{7}
	for _, record := range []event.Event{
		&event.ConfigObjectNumbersAssigned{Names: []event.NameNumberAssignment{{Kind: event.ObjectBuyer, Ref: 1, ID: "blue"}}},
		&event.LeadDecided{Lead: id, Sale: event.Sale{Buyer: 1}, Post: event.PostIntent{URL: "https://blue.example", Timeout: 1e9, Repeatable: true}, Keep: 1 << 60, Sealed: (&event.LeadPersonalData{Body: []byte("{}")}).AppendEncoded(nil)},
	} {
		must.Succeed(t, e.commit(record, nil))
	}
	return e, id
}

// A delivery ends shortly after its event SettledUnknown. Until then an operator gets a conflict.
func TestResolveDuringEndOfDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, id := engineWithUnknownDelivery(t)
		d := must.Value(e.registerDelivery(id))(t)
		for _, how := range []event.PostSettlement{event.SettledConfirmed, event.SettledReleased, event.SettledResent} {
			if err := e.AsOperator("").ResolveUnconfirmedDelivery(id, how); !errors.Is(err, ErrConflict) {
				t.Errorf("%s: %v", how, err)
			}
		}
		d.UnregisterAndWakeWaiters()
		if err := e.AsOperator("").ResolveUnconfirmedDelivery(id, event.SettledConfirmed); err != nil {
			t.Error(err)
		}
		e.Close()
		if err := e.AsOperator("").ResolveUnconfirmedDelivery(id, event.SettledConfirmed); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	})
}

func TestResolveBeforeRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, id := engineWithOpenIntent(t)
		if err := e.AsOperator("").ResolveUnconfirmedDelivery(id, event.SettledReleased); !errors.Is(err, ErrConflict) {
			t.Error(err)
		}
		e.Close()
	})
}

// Recovery must not start a delivery that an operator has already resent.
func TestRecoverySkipsResentDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, id := engineWithUnknownDelivery(t)
		must.Succeed(t, e.AsOperator("").ResolveUnconfirmedDelivery(id, event.SettledResent))
		must.Succeed(t, e.ResumeErasuresAndDeliveries())
		time.Sleep(time.Second)
		if lead, _ := e.state.LeadInMemory(id); lead.Delivery != market.DeliveryDone {
			t.Errorf("delivery %s", lead.Delivery)
		}
		e.Close()
	})
}
