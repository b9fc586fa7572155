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

// died begins an exchange with so many dead letters, and receivers that hear
// nothing.
func died(t *testing.T, leads int) (*exchange, *receivers) {
	t.Helper()
	x := begin(t, plain())
	r := mail(t)
	r.script = []market.WebhookResult{nacks}
	for n := range leads {
		x.tell(person(n))
	}
	r.sendFor(x, day)
	return x, r
}

func TestResendOfADeadLetter(t *testing.T) {
	bubble(t, "and it is heard", func(t *testing.T) {
		x, r := died(t, 1)
		dead := must.Value(x.dead())(t)
		if len(dead) != 1 || dead[0].Attempts != 6 || dead[0].Type != market.WebhookPosted {
			t.Fatalf("%+v", dead)
		}
		r.script = nil
		x.crash()
		must.Succeed(t, x.engine.AsOperator("").ResendWebhook(dead[0].Lead, dead[0].Type))
		r.sendFor(x, time.Minute)
		if got := x.hooksStand(); got != "0 pending 0 dead" || len(r.told) != 7 {
			t.Errorf("%s after %d attempts", got, len(r.told))
		}
	})
	bubble(t, "and it has all its attempts again", func(t *testing.T) {
		x, r := died(t, 1)
		dead := must.Value(x.dead())(t)
		must.Succeed(t, x.engine.AsOperator("").ResendWebhook(dead[0].Lead, dead[0].Type))
		expectError(t, x.engine.AsOperator("").ResendWebhook(dead[0].Lead, dead[0].Type), engine.ErrConflict, "resent again while it is tried")
		expectError(t, x.engine.AsOperator("").DropWebhook(dead[0].Lead, dead[0].Type), engine.ErrConflict, "dropped while it is tried")
		r.sendFor(x, day)
		if got := x.hooksStand(); got != "0 pending 1 dead failing since 0s" || len(r.told) != 12 {
			t.Errorf("%s after %d attempts", got, len(r.told))
		}
	})
	bubble(t, "or dropped", func(t *testing.T) {
		x, r := died(t, 2)
		dead := must.Value(x.dead())(t)
		must.Succeed(t, x.engine.AsOperator("").DropWebhook(dead[0].Lead, dead[0].Type))
		expectError(t, x.engine.AsOperator("").ResendWebhook(dead[0].Lead, dead[0].Type), engine.ErrNotFound, "resent after it was dropped")
		expectError(t, x.engine.AsOperator("").DropWebhook(dead[0].Lead, dead[0].Type), engine.ErrNotFound, "dropped again")
		r.sendFor(x, day)
		if got := x.hooksStand(); got != "0 pending 1 dead failing since 0s" || len(r.told) != 12 {
			t.Errorf("%s after %d attempts", got, len(r.told))
		}
	})
}

// deadHook is a dead letter as operators find it.
type deadHook struct {
	Lead     market.LeadID
	Type     market.WebhookType
	Attempts uint32
	ID       market.WebhookID
}

// dead are acme's dead letters, page by page.
func (x *exchange) dead() (all []deadHook, err error) {
	const page = 7
	for {
		dead, err := x.engine.ListDeadLetters("acme", len(all), page)
		for _, h := range dead {
			all = append(all, deadHook{h.Lead, h.Type, h.Attempts, market.NewWebhookID(h.Lead, h.Type, h.Created)})
		}
		if err != nil || len(dead) < page {
			return all, err
		}
	}
}

func TestManyDeadLetters(t *testing.T) {
	bubble(t, "resent at once", func(t *testing.T) {
		const leads = 600
		x, r := died(t, leads)
		dead := must.Value(x.dead())(t)
		expectEqual(t, len(dead), leads, "dead letters")
		for _, i := range []int{0, 1, leads / 2, leads - 1} {
			h, err := x.engine.FindDeadLetterByID("acme", dead[i].ID)
			if err != nil || h.Lead != dead[i].Lead || h.Type != dead[i].Type {
				t.Errorf("%s is %+v, %v", dead[i].ID, h, err)
			}
		}
		other := market.NewWebhookID(dead[0].Lead, market.WebhookSold, 0)
		expectError(t, errorOf(x.engine.FindDeadLetterByID("acme", other)), engine.ErrNotFound, "an event that nobody has")
		r.script, r.told = nil, nil
		before := x.log.len()
		if n, err := x.engine.AsOperator("").ResendDeadLetters("acme"); n != leads || err != nil {
			t.Errorf("%d resent: %v", n, err)
		}
		expectEqual(t, x.log.len()-before, leads, "facts")
		r.sendFor(x, time.Minute)
		if got := x.hooksStand(); got != "0 pending 0 dead" || len(r.told) != leads {
			t.Errorf("%s after %d attempts", got, len(r.told))
		}
		if n, err := x.engine.AsOperator("").ResendDeadLetters("acme"); n != 0 || err != nil {
			t.Errorf("%d resent of none: %v", n, err)
		}
	})
}

// switches is how often webhooks were switched on or off.
func (x *exchange) switches() int { return len(recordsOf[*event.SupplierWebhooksTurnedOnOrOff](x)) }

func TestSwitchOfHooks(t *testing.T) {
	trading(t, "by hand", plain(), func(t *testing.T, x *exchange) {
		r := mail(t)
		r.script = []market.WebhookResult{nacks, acks}
		x.tell(person(1))
		r.send(x)
		x.tell(person(2))
		for range 2 { // the second time it is so already
			must.Succeed(t, x.engine.AsOperator("").SetWebhooksOff("acme", true))
		}
		expectEqual(t, x.hooksStand(), "0 pending 2 dead failing since 0s off")
		dead := must.Value(x.dead())(t)
		expectError(t, x.engine.AsOperator("").ResendWebhook(dead[0].Lead, dead[0].Type), engine.ErrConflict, "resent while they are off")
		if n, err := x.engine.AsOperator("").ResendDeadLetters("acme"); n != 0 || !errors.Is(err, engine.ErrConflict) {
			t.Errorf("%d resent while they are off: %v", n, err)
		}
		if err := x.engine.AsOperator("").DropWebhook(dead[0].Lead, dead[0].Type); err != nil {
			t.Errorf("dropped while they are off: %v", err)
		}
		must.Succeed(t, x.engine.AsOperator("").SetWebhooksOff("acme", false))
		expectEqual(t, x.hooksStand(), "0 pending 1 dead")
		expectEqual(t, x.switches(), 2, "facts for two changes")
	})
	trading(t, "while an attempt is under way", plain(), func(t *testing.T, x *exchange) {
		acme := x.state.RefOf(event.ObjectSupplier, "acme")
		x.tell(person(1))
		x.tell(person(2))
		heard, _ := x.state.ClaimDueWebhook(acme, time.Now().UnixNano())
		lost, _ := x.state.ClaimDueWebhook(acme, time.Now().UnixNano())
		must.Succeed(t, x.engine.AsOperator("").SetWebhooksOff("acme", true))
		must.Succeed(t, errors.Join(x.engine.RecordWebhookAttempt(heard, acks), x.engine.RecordWebhookAttempt(lost, nacks)))
		dead := must.Value(x.dead())(t)
		if !slices.ContainsFunc(dead, func(d deadHook) bool { return d.Lead == lost.Lead }) || len(dead) != 1 {
			t.Errorf("dead are %+v", dead)
		}
		if _, ok := x.state.ClaimDueWebhook(acme, time.Now().Add(day).UnixNano()); ok {
			t.Error("what was switched off is due")
		}
	})
}

func TestOperatorsOfNobody(t *testing.T) {
	trading(t, "errors", plain(), func(t *testing.T, x *exchange) {
		_, all := x.engine.AsOperator("").ResendDeadLetters("nobody")
		_, list := x.engine.ListDeadLetters("nobody", 0, 10)
		_, one := x.engine.FindDeadLetterByID("nobody", market.WebhookID{})
		for what, err := range map[string]error{
			"resend all": all, "list": list, "find": one,
			"switch": x.engine.AsOperator("").SetWebhooksOff("nobody", true),
			"resend": x.engine.AsOperator("").ResendWebhook(market.LeadID{1}, market.WebhookPosted),
			"drop":   x.engine.AsOperator("").DropWebhook(market.LeadID{1}, market.WebhookPosted),
		} {
			expectError(t, err, engine.ErrNotFound, what)
		}
	})
	bubble(t, "a log that has failed", func(t *testing.T) {
		x, r := died(t, 3)
		x.tell(person(9))
		dead := must.Value(x.dead())(t)
		x.log.die(x.log.len(), nil)
		r.send(x)
		n, all := x.engine.AsOperator("").ResendDeadLetters("acme")
		for what, err := range map[string]error{
			"resend all": all, "switch": x.engine.AsOperator("").SetWebhooksOff("acme", true),
			"resend": x.engine.AsOperator("").ResendWebhook(dead[0].Lead, dead[0].Type), "drop": x.engine.AsOperator("").DropWebhook(dead[0].Lead, dead[0].Type),
		} {
			expectError(t, err, errDead, what)
		}
		if got := x.hooksStand(); n != 0 || got != "1 pending 3 dead failing since 0s" {
			t.Errorf("%d resent, %s", n, got)
		}
	})
}

var supplierName = &event.ConfigNumbersAssigned{Names: []event.NameNumberAssignment{{Kind: event.ObjectSupplier, Ref: 1, ID: "acme"}}}

// webhookEngine returns an engine over a state that has a supplier and no lead, and a
// history that fails.
func webhookEngine(log engine.Log, failure error) *engine.Engine {
	s := state.New()
	s.Apply(1, 1, supplierName)
	return engine.New(engine.Options{
		State: s, Log: log, History: historyFunc(func(uint64) ([]byte, error) { return nil, failure }), Clock: bubbleClock{}, Entropy: func(p []byte) { clear(p) },
	})
}

// A webhook of an unknown lead becomes a dead letter.
func TestWebhookOfUnknownLead(t *testing.T) {
	w := state.QueuedWebhook{Lead: market.LeadID{7, 7}, Type: market.WebhookPosted, Supplier: 1, Cause: 77, Created: 1, Attempts: 2}
	bubble(t, "gone", func(t *testing.T) {
		log := newMemoryLog(t)
		defer log.close()
		log.entries = append(log.entries, entry{1, event.AppendRecord(nil, supplierName)})
		e := webhookEngine(log, engine.ErrGone)
		expectError(t, errorOf(e.BuildWebhookMessage(&w)), engine.ErrGone)
		record, err := new(event.Decoder).Decode(log.durable()[1].data)
		if tried, ok := record.(*event.WebhookAttempted); err != nil || !ok || tried.Outcome != event.WebhookDead || tried.Lead != w.Lead || tried.Attempt != 3 {
			t.Errorf("logged is %+v", record)
		}
	})
	t.Run("the disk fails", func(t *testing.T) {
		e := webhookEngine(nil, errors.New("the disk is gone"))
		expectError(t, errorOf(e.BuildWebhookMessage(&w)), engine.ErrUnavailable)
		e.Close()
		expectError(t, errorOf(e.BuildWebhookMessage(&w)), engine.ErrUnavailable, "after Close")
	})
}

// resent are the events of each lead that operators resent, in the order of the
// facts.
func (x *exchange) resent() map[market.LeadID][]market.WebhookType {
	all := map[market.LeadID][]market.WebhookType{}
	for _, tried := range recordsOf[*event.WebhookAttempted](x) {
		if tried.Outcome == event.WebhookResent {
			all[tried.Lead] = append(all[tried.Lead], tried.Type)
		}
	}
	return all
}

// unheard is an event that so many more attempts do not tell, the last of them now.
func (x *exchange) unheard(a engine.IngestAnswer, what market.WebhookType, attempts int) {
	x.t.Helper()
	for range attempts {
		h, ok := x.state.FindWebhook(a.Lead, what)
		if !ok || h.Dead {
			x.t.Fatalf("%s is %+v", what, h)
		}
		must.Succeed(x.t, x.engine.RecordWebhookAttempt(h, nacks))
	}
	time.Sleep(time.Second)
}

// TestResendKeepsTheOrderOfALead: what is resent may be told before the next one
// is. So a lead's events come to life in the order of their causes, however they
// died.
func TestResendKeepsTheOrderOfALead(t *testing.T) {
	told := []market.WebhookType{market.WebhookPosted, market.WebhookContacted, market.WebhookReturned}
	changes := func(x *exchange, a engine.IngestAnswer) {
		x.reported(saying(a, "contacted"))
		x.reported(saying(a, "returned"))
	}
	for name, die := range map[string]func(x *exchange){
		"all at once": func(x *exchange) {
			for n := range 300 {
				changes(x, x.sold(n))
			}
			must.Succeed(x.t, x.engine.AsOperator("").SetWebhooksOff("acme", true))
			must.Succeed(x.t, x.engine.AsOperator("").SetWebhooksOff("acme", false))
		},
		"the last one first": func(x *exchange) {
			a := x.sold(1)
			changes(x, a)
			for i, attempts := range []int{2, 2, 6, 4, 4} {
				x.unheard(a, told[min(i, 4-i)], attempts)
			}
		},
	} {
		trading(t, name, plain(), func(t *testing.T, x *exchange) {
			die(x)
			dead := must.Value(x.dead())(t)
			if n, err := x.engine.AsOperator("").ResendDeadLetters("acme"); n != len(dead) || err != nil {
				t.Fatalf("%d of %d resent: %v", n, len(dead), err)
			}
			for lead, got := range x.resent() {
				if !slices.Equal(got, told) {
					t.Fatalf("of lead %s are resent %v", lead, got)
				}
			}
		})
	}
}
