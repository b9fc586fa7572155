package refreceiver

import (
	"encoding/json"
	"maps"
	"sync"
)

// Stats counts deliveries and their outcomes. Each request counts in deliveries, and in
// one of bad_signatures, invalid, failed, malformed and acknowledged.
type Stats struct {
	Deliveries    int64            `json:"deliveries"`
	BadSignatures int64            `json:"bad_signatures"` // refused with 401; above 0 is a fault of the exchange
	Invalid       int64            `json:"invalid"`        // signed, but not an event
	Failed        int64            `json:"failed"`         // intentionally answered with 500
	Malformed     int64            `json:"malformed"`      // intentionally malformed answers
	Acknowledged  int64            `json:"acknowledged"`   // answered with 204
	Distinct      int64            `json:"distinct"`       // distinct ids of accepted events
	Repeats       int64            `json:"repeats"`        // deliveries of accepted events
	Changed       int64            `json:"changed"`        // repeats with another body; above 0 is a fault of the exchange
	ByType        map[string]int64 `json:"by_type"`        // distinct events by type
}

// Event is an accepted event.
type Event struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Lead     string          `json:"lead_id,omitzero"` // empty for an alert
	Test     bool            `json:"test,omitzero"`    // the lead is a test lead
	Attempts int             `json:"attempts"`         // signed deliveries, with any answer
	Body     json.RawMessage `json:"body"`
}

// book stores deliveries and events.
type book struct {
	mu       sync.Mutex
	stats    Stats
	attempts map[string]int // signed deliveries by id
	accepted map[string]int // index in events by id
	events   []Event
	limit    int
}

func newBook(limit int) *book {
	return &book{limit: limit, attempts: map[string]int{}, accepted: map[string]int{}, stats: Stats{ByType: map[string]int64{}}}
}

// count increases one counter and the number of deliveries.
func (b *book) count(figure func(*Stats) *int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stats.Deliveries++
	*figure(&b.stats)++
}

// attempt counts a signed delivery, and returns its number from 1.
func (b *book) attempt(id string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := b.attempts[id]; n > 0 || len(b.attempts) < b.limit {
		b.attempts[id] = n + 1
	}
	return max(1, b.attempts[id])
}

// accept stores the event of a delivery.
func (b *book) accept(e *Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, known := b.accepted[e.ID]; known {
		b.stats.Repeats++
		if string(b.events[at].Body) != string(e.Body) {
			b.stats.Changed++
		}
		return
	}
	b.stats.Distinct++
	b.stats.ByType[e.Type]++
	if len(b.events) < b.limit {
		b.accepted[e.ID] = len(b.events)
		b.events = append(b.events, *e)
	}
}

func (b *book) snapshot() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.stats
	s.ByType = maps.Clone(s.ByType)
	return s
}

// all returns the accepted events, in the order of their first delivery.
func (b *book) all() []Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	events := append([]Event(nil), b.events...)
	for i := range events {
		events[i].Attempts = b.attempts[events[i].ID]
	}
	return events
}
