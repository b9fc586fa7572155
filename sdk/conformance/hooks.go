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

// hooks is where the exchange tells its supplier of leads. It acknowledges all, and
// keeps them for the cases: the bytes and the headers as they came.
type hooks struct {
	server *httptest.Server

	mu   sync.Mutex
	list []map[string]any
}

func newHooks() *hooks {
	h := &hooks{}
	h.server = httptest.NewServer(h)
	return h
}

func (h *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	h.list = append(h.list, map[string]any{
		"headers": headers, "body_base64": base64.StdEncoding.EncodeToString(body), "event": event,
	})
	h.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// await waits for an event of a type about a lead.
func (h *hooks) await(kind, lead string) (map[string]any, error) {
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if found := h.find(kind, lead); found != nil {
			return found, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("the exchange never told of %s of %s", kind, lead)
		}
	}
}

func (h *hooks) find(kind, lead string) map[string]any {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, came := range h.list {
		about, _ := dig(came, "event.data.lead_id")
		if is, _ := dig(came, "event.type"); is == kind && about == lead {
			return came
		}
	}
	return nil
}
