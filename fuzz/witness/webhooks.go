//go:build unix

package witness

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"pingpost/loadtest/refreceiver"
)

// webhookReceiver is the supplier's webhook receiver process. It runs on when the exchange
// dies, because it keeps the events in memory only.
type webhookReceiver struct {
	t       TB
	process *Process
	mu      sync.Mutex
	address string
}

// startReceiver starts a receiver that fails, breaks off and answers slowly at random. It
// accepts half of these events before the failure, so they arrive again with the same id.
func startReceiver(t TB, program string, seed uint64) *webhookReceiver {
	t.Helper()
	r := &webhookReceiver{t: t}
	r.process = startProcess(t, "receiver", func(line string) {
		if _, address, ok := strings.Cut(line, "reference receiver on "); ok {
			r.mu.Lock()
			r.address = address
			r.mu.Unlock()
		}
	}, program, "receiver", "--listen", "127.0.0.1:0", "--secret", WebhookSecret, "--seed", fmt.Sprint(seed), "--fail-rate", "0.2", "--malformed-rate", "0.06", "--latency", "1ms-10ms+hang:0.005")
	Await(t, "the webhook receiver listens", func() bool { return r.url() != "" })
	return r
}

func (r *webhookReceiver) url() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.address
}

// received returns the received events and the receiver's counters.
func (r *webhookReceiver) received() (events []refreceiver.Event, stats refreceiver.Stats) {
	r.t.Helper()
	stats = fetchAll[refreceiver.Stats](r.t, r.url()+"/stats")[0]
	return fetchAll[refreceiver.Event](r.t, r.url()+"/events"), stats
}

// expectedEvents returns the events for the lead's current state.
func (e *modelLead) expectedEvents() []string {
	sale := e.saleEvent()
	if sale == "" {
		return nil
	}
	events := []string{sale}
	for _, status := range e.statuses {
		events = append(events, "lead."+status)
	}
	return events
}

// saleEvent returns the event of the lead's sale, or "" while its delivery is open.
func (e *modelLead) saleEvent() string {
	switch {
	case e.state == stateRecorded, e.state == stateDelivered:
		return "lead.posted"
	case e.state == stateUnsold && e.acceptedSent:
		return "lead.post_failed"
	case e.state == stateUnsold:
		return "lead.unmatched"
	}
	return ""
}

// checkWebhooks checks that each event belongs to a lead in the log, matches its state and has
// one id and one wording. If all events were delivered, each expected event must be present.
func (p *Evidence) checkWebhooks() (found findings) {
	if s := p.webhookStats; s.BadSignatures != 0 || s.Changed != 0 || s.Invalid != 0 {
		found.add("webhooks: %d with a wrong signature, %d invalid events, %d changed under the same id; all must be 0", s.BadSignatures, s.Invalid, s.Changed)
	}
	answer := map[string]string{}
	for i := range p.webhookEvents {
		event := &p.webhookEvents[i]
		e := p.model.leads[event.Lead]
		switch {
		case e == nil:
			found.add("webhook %s of lead %s, which is not in the log", event.Type, event.Lead)
			continue
		case !slices.Contains(e.expectedEvents(), event.Type):
			found.add("webhook %s of lead %s does not match its state %s", event.Type, event.Lead, e.state)
		case e.isTest != event.Test:
			found.add("webhook %s of lead %s has test %t, but the log has %t", event.Type, event.Lead, event.Test, e.isTest)
		}
		name := event.Type + " of lead " + event.Lead
		if other, twice := answer[name]; twice {
			found.add("webhook %s was sent with two ids, %s and %s", name, other, event.ID)
		}
		answer[name] = event.ID
	}
	if !p.WebhooksDrained {
		return found
	}
	for _, e := range p.model.leads {
		for _, want := range e.expectedEvents() {
			if name := want + " of lead " + e.id; answer[name] == "" {
				found.add("webhook %s was never delivered", name)
			}
		}
	}
	return found
}
