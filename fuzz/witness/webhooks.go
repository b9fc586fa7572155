//go:build unix

package witness

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pingpost/loadtest/refbuyer"
	"pingpost/loadtest/refreceiver"
)

// startReceiver starts a receiver that fails, breaks off and answers slowly at random. It
// accepts half of these events before the failure, so they arrive again with the same id.
func startReceiver(t testing.TB, program string, config *Config, seed uint64) *peerProcess {
	t.Helper()
	return startPeer(t, program, "receiver", "receiver", "--listen", config.peerListen(), "--secret", WebhookSecret, "--seed", fmt.Sprint(seed), "--fail-rate", "0.2", "--malformed-rate", "0.06", "--latency", "1ms-10ms+hang:0.005")
}

// readWebhookEvents returns the received events and the receiver's counters.
func (s *Harness) readWebhookEvents() (events []refreceiver.Event, stats refreceiver.Stats) {
	s.t.Helper()
	err := errors.Join(
		refbuyer.FetchJSON(s.t.Context(), s.receiver.url+"/stats", func(d *json.Decoder) error { return d.Decode(&stats) }),
		refbuyer.FetchJSON(s.t.Context(), s.receiver.url+"/events", func(d *json.Decoder) error {
			for d.More() {
				var event refreceiver.Event
				if err := d.Decode(&event); err != nil {
					return err
				}
				events = append(events, event)
			}
			return nil
		}))
	if err != nil {
		s.t.Fatal(err)
	}
	return events, stats
}

// AcceptLateSignatures makes the webhooks with a wrong signature so far no finding. The receiver counts those
// of a node with a wrong clock, too.
func (s *Harness) AcceptLateSignatures() {
	s.t.Helper()
	_, stats := s.readWebhookEvents()
	s.lateSignatures = stats.BadSignatures
}

// expectedEventTypes returns the events for the lead's current state.
func (e *modelLead) expectedEventTypes() []string {
	sale := e.saleEventType()
	if sale == "" {
		return nil
	}
	events := []string{sale}
	for _, status := range e.statuses {
		events = append(events, "lead."+status)
	}
	return events
}

// saleEventType returns the event of the lead's sale, or "" while its delivery is open.
func (e *modelLead) saleEventType() string {
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
		case !slices.Contains(e.expectedEventTypes(), event.Type):
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
		for _, want := range e.expectedEventTypes() {
			if name := want + " of lead " + e.id; answer[name] == "" {
				found.add("webhook %s was never delivered", name)
			}
		}
	}
	return found
}
