package engine_test

import (
	"bytes"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/internal/timer"
)

// hookOf is where a supplier hears of its leads.
func hookOf(supplier string) *market.Endpoint {
	return &market.Endpoint{URL: "https://" + supplier + ".example/hooks", Credential: "supplier/" + supplier + "/webhook"}
}

// hooked is the same market, whose suppliers have webhooks.
func hooked(r rig) rig { r.told = true; return r }

var (
	acks  = market.WebhookResult{Delivered: true, Status: 204}
	nacks = market.WebhookResult{Status: 500}
	mutes = market.WebhookResult{Fault: market.FaultTimeout, Elapsed: time.Second}
)

// receivers are the suppliers' endpoints, with one that sends to them: plainly,
// one attempt after the other. They outlive the exchange, and watch for what no
// exchange may ever do: tell one event under two names, with two bodies, or with
// a person in it.
type receivers struct {
	t      testing.TB
	script []market.WebhookResult // of an event's attempts; the last one repeats; none: all are heard
	told   []*attempt
}

// attempt is one as the supplier sees it.
type attempt struct {
	at     time.Duration
	id     string
	what   string
	lead   string
	body   []byte
	cause  uint64
	number int // of this event, from 1
	result market.WebhookResult
}

// receive notes an attempt and says how it is met.
func (r *receivers) receive(x *exchange, h *state.QueuedWebhook, m *engine.WebhookMessage) market.WebhookResult {
	r.t.Helper()
	a := &attempt{at: time.Since(began), id: m.ID, what: h.Type.String(), lead: h.Lead.String(), body: bytes.Clone(m.Body), cause: h.Cause, number: 1, result: acks}
	if supplier := x.state.NameOf(event.ObjectSupplier, m.Supplier); m.Endpoint.URL != "" && m.Endpoint != *hookOf(supplier) {
		r.t.Errorf("%s of %s goes to %+v", a.what, supplier, m.Endpoint)
	}
	if !json.Valid(a.body) {
		r.t.Errorf("a body that is no JSON: %s", a.body)
	}
	for _, person := range []string{"+1415", "@example.com", "first_name", "Pat", "Doe"} {
		if bytes.Contains(a.body, []byte(person)) {
			r.t.Errorf("an event that carries a person: %s", a.body)
		}
	}
	for _, before := range r.told {
		same := before.lead == a.lead && before.what == a.what
		expectEqual(r.t, same, (before.id == a.id), before.what, " of ", before.lead, " is ", before.id, ", ", a.what, " of ", a.lead, " is ", a.id)
		if !same {
			continue
		}
		a.number++
		if !bytes.Equal(before.body, a.body) {
			r.t.Errorf("%s of %s has two bodies:\n%s\n%s", a.what, a.lead, before.body, a.body)
		}
	}
	if len(r.script) > 0 {
		a.result = r.script[min(a.number, len(r.script))-1]
	}
	r.told = append(r.told, a)
	return a.result
}

// mail is the receivers of an exchange; all of them hear.
func mail(t testing.TB) *receivers { return &receivers{t: t} }

// send tells what is due by now.
func (r *receivers) send(x *exchange) {
	r.t.Helper()
	for _, supplier := range x.state.SuppliersWithPendingWebhooks() {
		for {
			h, ok := x.state.ClaimDueWebhook(supplier, time.Now().UnixNano())
			if !ok {
				break
			}
			m, err := x.engine.BuildWebhookMessage(&h)
			if err == nil {
				err = x.engine.RecordWebhookAttempt(h, r.receive(x, &h, &m))
			}
			if err != nil {
				x.state.UnclaimWebhook(h)
				time.Sleep(time.Second) // it is due again at once
				return
			}
		}
	}
}

// sendFor tells what becomes due, as it does, for so long.
func (r *receivers) sendFor(x *exchange, d time.Duration) {
	r.t.Helper()
	end := time.Now().Add(d)
	for {
		r.send(x)
		next := end
		for _, supplier := range x.state.SuppliersWithPendingWebhooks() {
			if due, ok := x.state.NextWebhookDueTime(supplier); ok && time.Unix(0, due).Before(next) {
				next = time.Unix(0, due)
			}
		}
		select {
		case <-timer.After(time.Until(next)):
		case <-x.state.WebhooksChanged():
		}
		if !time.Now().Before(end) {
			return
		}
	}
}

// list is what was told, as "type number" or as type alone for what was heard at
// once.
func (r *receivers) list() (all []string) {
	for _, a := range r.told {
		all = append(all, a.what)
	}
	return all
}

// hookNotes is a note of webhooks.
type hookNotes struct {
	*noted
	mu       sync.Mutex
	outcomes []string
	off      []string
}

func (n *hookNotes) WebhookAttempted(supplier string, outcome event.WebhookOutcome, _ *market.WebhookResult) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.outcomes = append(n.outcomes, supplier+" "+outcome.String())
}

func (n *hookNotes) WebhooksSwitchedOff(supplier string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.off = append(n.off, supplier)
}
