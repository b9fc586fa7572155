package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// webhookReceiver receives the supplier's webhooks. It acknowledges all of them and keeps their
// bytes and headers for the cases.
type webhookReceiver struct {
	server *httptest.Server

	mu     sync.Mutex
	events []map[string]any
}

func newWebhookReceiver() *webhookReceiver {
	h := &webhookReceiver{}
	h.server = httptest.NewServer(h)
	return h
}

func (h *webhookReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	headers := map[string]any{}
	for name, values := range r.Header {
		headers[name] = strings.Join(values, ", ")
	}
	event, _ := decode(body)
	h.mu.Lock()
	h.events = append(h.events, map[string]any{
		"headers": headers, "body_base64": base64.StdEncoding.EncodeToString(body), "event": event,
	})
	h.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// awaitEvent waits for an event of a type about a lead.
func (h *webhookReceiver) awaitEvent(kind, lead string) (map[string]any, error) {
	for deadline := time.Now().Add(answerTimeout); ; time.Sleep(5 * time.Millisecond) {
		if found := h.find(kind, lead); found != nil {
			return found, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("the exchange did not send the webhook %s of lead %s", kind, lead)
		}
	}
}

func (h *webhookReceiver) find(kind, lead string) map[string]any {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, event := range h.events {
		about, _ := valueAt(event, "event.data.lead_id")
		if is, _ := valueAt(event, "event.type"); is == kind && about == lead {
			return event
		}
	}
	return nil
}
