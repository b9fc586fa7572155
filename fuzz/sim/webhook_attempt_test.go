package sim

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// sendWebhook makes one webhook attempt. It returns false if the process has died.
func (w *world) sendWebhook(e *engine.Engine, h state.OutboxWebhook) bool {
	message, err := e.BuildWebhookMessageOrDeadLetter(&h)
	if err != nil {
		e.State().UnclaimWebhook(h)
		return false
	}
	supplier := e.State().NameOf(event.ObjectSupplier, message.Supplier)
	now := time.Now().UnixNano()
	w.mu.Lock()
	result := market.WebhookAttemptResult{Delivered: true, Status: 204}
	if now < w.conduct.rejectingUntil[supplier] {
		result = market.WebhookAttemptResult{Status: 500}
	}
	var said struct{ ID, Type string }
	if json.Unmarshal(message.Body, &said) != nil || said.ID != message.ID || said.Type != h.Type.String() ||
		bytes.Contains(message.Body, []byte("+1415")) || bytes.Contains(message.Body, []byte("@example.com")) {
		w.fault("an event that is none, or carries a person: %s", message.Body)
	}
	if before, ok := w.bodies[message.ID]; ok && before != string(message.Body) {
		w.fault("an event has two bodies:\n%s\n%s", before, message.Body)
	}
	w.bodies[message.ID] = string(message.Body)
	w.mu.Unlock()
	if e.RecordWebhookAttempt(h, result) != nil {
		e.State().UnclaimWebhook(h)
		return false
	}
	w.mu.Lock()
	w.told = append(w.told, webhookAttempt{h.Lead, strings.TrimSpace(h.Type.String()), now, result.Delivered})
	w.mu.Unlock()
	return true
}
