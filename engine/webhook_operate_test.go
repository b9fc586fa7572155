package engine_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/internal/must"
)

// newExchangeWithDeadLetters starts an exchange with a dead letter for each lead, and
// receivers that reject all webhooks.
func newExchangeWithDeadLetters(t *testing.T, leads int) (*testExchange, *webhookReceivers) {
	t.Helper()
	x := newExchange(t, webhookMarket())
	r := newReceivers(t)
	r.script = []market.WebhookAttemptResult{webhookFailed}
	for n := range leads {
		x.ingestResult(leadRequest(n))
	}
	r.sendFor(x, day)
	return x, r
}

func TestResendAndDropDeadLetter(t *testing.T) {
	runInVirtualTime(t, "resent and delivered", func(t *testing.T) {
		x, r := newExchangeWithDeadLetters(t, 1)
		dead := must.Value(x.deadLetters())(t)
		if len(dead) != 1 || dead[0].Attempts != 6 || dead[0].Type != market.WebhookPosted {
			t.Fatalf("dead letters %+v, want one with 6 attempts", dead)
		}
		r.script = nil
		x.crashAndRestart()
		must.Succeed(t, x.engine.AsOperator("").ResendDeadLetter(dead[0].Lead, dead[0].Type))
		r.sendFor(x, time.Minute)
		if got := x.webhookStatus(); got != "0 pending 0 dead" || len(r.attempts) != 7 {
			t.Errorf("got %s after %d attempts", got, len(r.attempts))
		}
	})
	runInVirtualTime(t, "resent with all attempts again", func(t *testing.T) {
		x, r := newExchangeWithDeadLetters(t, 1)
		dead := must.Value(x.deadLetters())(t)
		must.Succeed(t, x.engine.AsOperator("").ResendDeadLetter(dead[0].Lead, dead[0].Type))
		expectError(t, x.engine.AsOperator("").ResendDeadLetter(dead[0].Lead, dead[0].Type), engine.ErrConflict, "resent while pending")
		expectError(t, x.engine.AsOperator("").DropDeadLetter(dead[0].Lead, dead[0].Type), engine.ErrConflict, "dropped while pending")
		r.sendFor(x, day)
		if got := x.webhookStatus(); got != "0 pending 1 dead failing since 0s" || len(r.attempts) != 12 {
			t.Errorf("got %s after %d attempts", got, len(r.attempts))
		}
	})
	runInVirtualTime(t, "dropped", func(t *testing.T) {
		x, r := newExchangeWithDeadLetters(t, 2)
		dead := must.Value(x.deadLetters())(t)
		must.Succeed(t, x.engine.AsOperator("").DropDeadLetter(dead[0].Lead, dead[0].Type))
		expectError(t, x.engine.AsOperator("").ResendDeadLetter(dead[0].Lead, dead[0].Type), engine.ErrNotFound, "resent after it was dropped")
		expectError(t, x.engine.AsOperator("").DropDeadLetter(dead[0].Lead, dead[0].Type), engine.ErrNotFound, "dropped again")
		r.sendFor(x, day)
		if got := x.webhookStatus(); got != "0 pending 1 dead failing since 0s" || len(r.attempts) != 12 {
			t.Errorf("got %s after %d attempts", got, len(r.attempts))
		}
	})
}

// deadLetter is a dead letter as the engine lists it to operators.
type deadLetter struct {
	Lead     market.LeadID
	Type     market.WebhookType
	Attempts uint32
	ID       market.WebhookID
}

// deadLetters returns acme's dead letters, read page by page.
func (x *testExchange) deadLetters() (all []deadLetter, err error) {
	const page = 7
	for {
		dead, err := x.engine.ListDeadLetters("acme", len(all), page)
		for _, h := range dead {
			all = append(all, deadLetter{h.Lead, h.Type, h.Attempts, market.ComputeWebhookID(h.Lead, h.Type, h.Created)})
		}
		if err != nil || len(dead) < page {
			return all, err
		}
	}
}

func TestResendAllDeadLetters(t *testing.T) {
	runInVirtualTime(t, "all", func(t *testing.T) {
		leads := 600
		if testing.Short() {
			leads = 150
		}
		x, r := newExchangeWithDeadLetters(t, leads)
		dead := must.Value(x.deadLetters())(t)
		expectEqual(t, len(dead), leads, "dead letters")
		for _, i := range []int{0, 1, leads / 2, leads - 1} {
			h, err := x.engine.FindDeadLetterByID("acme", dead[i].ID)
			if err != nil || h.Lead != dead[i].Lead || h.Type != dead[i].Type {
				t.Errorf("dead letter %s: got %+v, error %v", dead[i].ID, h, err)
			}
		}
		other := market.ComputeWebhookID(dead[0].Lead, market.WebhookSold, 0)
		expectError(t, errorOf(x.engine.FindDeadLetterByID("acme", other)), engine.ErrNotFound, "unknown webhook id")
		r.script, r.attempts = nil, nil
		before := x.log.len()
		if n, err := x.engine.AsOperator("").ResendDeadLetters("acme"); n != leads || err != nil {
			t.Errorf("%d resent, want %d; error %v", n, leads, err)
		}
		expectEqual(t, x.log.len()-before, leads, "logged events")
		r.sendFor(x, time.Minute)
		if got := x.webhookStatus(); got != "0 pending 0 dead" || len(r.attempts) != leads {
			t.Errorf("got %s after %d attempts", got, len(r.attempts))
		}
		if n, err := x.engine.AsOperator("").ResendDeadLetters("acme"); n != 0 || err != nil {
			t.Errorf("%d resent, want 0; error %v", n, err)
		}
	})
}

// countSwitches returns how often webhooks were turned on or off.
func (x *testExchange) countSwitches() int {
	return len(eventsOf[*event.SupplierWebhooksTurnedOnOrOff](x))
}

func TestTurnWebhooksOffAndOn(t *testing.T) {
	runWithExchange(t, "by an operator", webhookMarket(), func(t *testing.T, x *testExchange) {
		r := newReceivers(t)
		r.script = []market.WebhookAttemptResult{webhookFailed, webhookDelivered}
		x.ingestResult(leadRequest(1))
		r.sendDue(x)
		x.ingestResult(leadRequest(2))
		for range 2 { // the second call is a no-op
			must.Succeed(t, x.engine.AsOperator("").SwitchOffAndDeadLetterWebhooks("acme"))
		}
		expectEqual(t, x.webhookStatus(), "0 pending 2 dead failing since 0s off")
		dead := must.Value(x.deadLetters())(t)
		expectError(t, x.engine.AsOperator("").ResendDeadLetter(dead[0].Lead, dead[0].Type), engine.ErrConflict, "resent while webhooks are off")
		if n, err := x.engine.AsOperator("").ResendDeadLetters("acme"); n != 0 || !errors.Is(err, engine.ErrConflict) {
			t.Errorf("%d resent while webhooks are off: %v", n, err)
		}
		if err := x.engine.AsOperator("").DropDeadLetter(dead[0].Lead, dead[0].Type); err != nil {
			t.Errorf("dropped while webhooks are off: %v", err)
		}
		must.Succeed(t, x.engine.AsOperator("").SwitchOnWebhooks("acme"))
		expectEqual(t, x.webhookStatus(), "0 pending 1 dead")
		expectEqual(t, x.countSwitches(), 2, "logged events")
	})
	runWithExchange(t, "during an attempt", webhookMarket(), func(t *testing.T, x *testExchange) {
		acme := x.state.RefOf(event.ObjectSupplier, "acme")
		x.ingestResult(leadRequest(1))
		x.ingestResult(leadRequest(2))
		delivered, _ := x.state.ClaimDueWebhook(acme, time.Now().UnixNano())
		failed, _ := x.state.ClaimDueWebhook(acme, time.Now().UnixNano())
		must.Succeed(t, x.engine.AsOperator("").SwitchOffAndDeadLetterWebhooks("acme"))
		must.Succeed(t, errors.Join(x.engine.RecordWebhookAttempt(delivered, webhookDelivered), x.engine.RecordWebhookAttempt(failed, webhookFailed)))
		dead := must.Value(x.deadLetters())(t)
		if !slices.ContainsFunc(dead, func(d deadLetter) bool { return d.Lead == failed.Lead }) || len(dead) != 1 {
			t.Errorf("dead letters %+v, want the failed one", dead)
		}
		if _, ok := x.state.ClaimDueWebhook(acme, time.Now().Add(day).UnixNano()); ok {
			t.Error("a webhook is due while webhooks are off")
		}
	})
}

func TestWebhookOperationErrors(t *testing.T) {
	runWithExchange(t, "unknown supplier, lead or webhook", webhookMarket(), func(t *testing.T, x *testExchange) {
		_, all := x.engine.AsOperator("").ResendDeadLetters("unknown")
		_, list := x.engine.ListDeadLetters("unknown", 0, 10)
		_, one := x.engine.FindDeadLetterByID("unknown", market.WebhookID{})
		for name, err := range map[string]error{
			"resend all": all, "list": list, "find": one,
			"switch": x.engine.AsOperator("").SwitchOffAndDeadLetterWebhooks("unknown"),
			"resend": x.engine.AsOperator("").ResendDeadLetter(market.LeadID{1}, market.WebhookPosted),
			"drop":   x.engine.AsOperator("").DropDeadLetter(market.LeadID{1}, market.WebhookPosted),
		} {
			expectError(t, err, engine.ErrNotFound, name)
		}
	})
	runInVirtualTime(t, "failed log", func(t *testing.T) {
		x, r := newExchangeWithDeadLetters(t, 3)
		x.ingestResult(leadRequest(9))
		dead := must.Value(x.deadLetters())(t)
		x.log.failAfterEntries(x.log.len(), nil)
		r.sendDue(x)
		n, all := x.engine.AsOperator("").ResendDeadLetters("acme")
		for name, err := range map[string]error{
			"resend all": all, "switch": x.engine.AsOperator("").SwitchOffAndDeadLetterWebhooks("acme"),
			"resend": x.engine.AsOperator("").ResendDeadLetter(dead[0].Lead, dead[0].Type), "drop": x.engine.AsOperator("").DropDeadLetter(dead[0].Lead, dead[0].Type),
		} {
			expectError(t, err, errLogFailed, name)
		}
		if got := x.webhookStatus(); n != 0 || got != "1 pending 3 dead failing since 0s" {
			t.Errorf("%d resent, want 0; webhooks %s", n, got)
		}
	})
}

var supplierName = &event.ConfigObjectNumbersAssigned{Names: []event.NameNumberAssignment{{Kind: event.ObjectSupplier, Ref: 1, ID: "acme"}}}

// webhookEngine returns an engine over a state that has a supplier and no lead, and a
// history that fails.
func webhookEngine(log engine.Log, failure error) *engine.Engine {
	s := state.New()
	s.Apply(1, 1, supplierName)
	return engine.New(engine.Options{
		State: s, Log: log, History: historyFunc(func(uint64) ([]byte, error) { return nil, failure }), Clock: virtualClock{}, Entropy: func(p []byte) { clear(p) },
	})
}

func TestWebhookOfUnknownLeadBecomesDeadLetter(t *testing.T) {
	w := state.OutboxWebhook{Lead: market.LeadID{7, 7}, Type: market.WebhookPosted, Supplier: 1, Cause: 77, Created: 1, Attempts: 2}
	runInVirtualTime(t, "cause not in the log", func(t *testing.T) {
		log := newMemoryLog(t)
		defer log.close()
		log.entries = append(log.entries, entry{1, event.AppendRecord(nil, supplierName)})
		e := webhookEngine(log, engine.ErrGone)
		expectError(t, errorOf(e.BuildWebhookMessageOrDeadLetter(&w)), engine.ErrGone)
		record, err := new(event.Decoder).Decode(log.durable()[1].data)
		if attempts, ok := record.(*event.WebhookAttemptedOrDecided); err != nil || !ok || attempts.Outcome != event.WebhookDead || attempts.Lead != w.Lead || attempts.Attempt != 3 {
			t.Errorf("logged %+v, want a dead letter after attempt 3", record)
		}
	})
	t.Run("disk failure", func(t *testing.T) {
		e := webhookEngine(nil, errors.New("disk failure"))
		expectError(t, errorOf(e.BuildWebhookMessageOrDeadLetter(&w)), engine.ErrUnavailable)
		e.Close()
		expectError(t, errorOf(e.BuildWebhookMessageOrDeadLetter(&w)), engine.ErrUnavailable, "after Close")
	})
}

// resentEvents returns the resent webhook types of each lead, in log order.
func (x *testExchange) resentEvents() map[market.LeadID][]market.WebhookType {
	all := map[market.LeadID][]market.WebhookType{}
	for _, attempts := range eventsOf[*event.WebhookAttemptedOrDecided](x) {
		if attempts.Outcome == event.WebhookResent {
			all[attempts.Lead] = append(all[attempts.Lead], attempts.Type)
		}
	}
	return all
}

// failAttempts records so many failed attempts of a webhook.
func (x *testExchange) failAttempts(a engine.IngestAnswer, name market.WebhookType, attempts int) {
	x.t.Helper()
	for range attempts {
		h, ok := x.state.FindWebhook(a.Lead, name)
		if !ok || h.Dead {
			x.t.Fatalf("webhook %s is not pending: %+v", name, h)
		}
		must.Succeed(x.t, x.engine.RecordWebhookAttempt(h, webhookFailed))
	}
	time.Sleep(time.Second)
}

// A resent webhook may be sent before the next one is resent. Therefore a lead's
// webhooks are resent in the order of their events.
func TestResendKeepsWebhookOrderOfLead(t *testing.T) {
	order := []market.WebhookType{market.WebhookPosted, market.WebhookContacted, market.WebhookReturned}
	changes := func(x *testExchange, a engine.IngestAnswer) {
		x.reportResult(newReport(a, "contacted"))
		x.reportResult(newReport(a, "returned"))
	}
	for name, makeDeadLetters := range map[string]func(x *testExchange){
		"all dead at once": func(x *testExchange) {
			for n := range 300 {
				changes(x, x.soldLead(n))
			}
			must.Succeed(x.t, x.engine.AsOperator("").SwitchOffAndDeadLetterWebhooks("acme"))
			must.Succeed(x.t, x.engine.AsOperator("").SwitchOnWebhooks("acme"))
		},
		"the last webhook dead first": func(x *testExchange) {
			a := x.soldLead(1)
			changes(x, a)
			for i, attempts := range []int{2, 2, 6, 4, 4} {
				x.failAttempts(a, order[min(i, 4-i)], attempts)
			}
		},
	} {
		runWithExchange(t, name, webhookMarket(), func(t *testing.T, x *testExchange) {
			makeDeadLetters(x)
			dead := must.Value(x.deadLetters())(t)
			if n, err := x.engine.AsOperator("").ResendDeadLetters("acme"); n != len(dead) || err != nil {
				t.Fatalf("%d of %d resent, error %v", n, len(dead), err)
			}
			for lead, got := range x.resentEvents() {
				if !slices.Equal(got, order) {
					t.Fatalf("lead %s: resent %v, want %v", lead, got, order)
				}
			}
		})
	}
}
