package refreceiver

import (
	"encoding/json"
	"maps"
	"sync"
)

// Stats is what has come, and what became of it. Every request to the hook is
// counted in deliveries, and in one of bad_signatures, invalid, failed, malformed and
// acknowledged.
type Stats struct {
	Deliveries    int64            `json:"deliveries"`
	BadSignatures int64            `json:"bad_signatures"` // refused with 401: always 0, or somebody is to be told
	Invalid       int64            `json:"invalid"`        // signed, but no event
	Failed        int64            `json:"failed"`         // answered 500 on purpose
	Malformed     int64            `json:"malformed"`      // answered badly on purpose
	Acknowledged  int64            `json:"acknowledged"`   // answered 204
	Distinct      int64            `json:"distinct"`       // ids among what was acknowledged or taken
	Repeats       int64            `json:"repeats"`        // deliveries of what had been taken before
	Changed       int64            `json:"changed"`        // of these, with another body: always 0, or somebody is to be told
	ByType        map[string]int64 `json:"by_type"`        // of the distinct ones
}

// Event is one that was taken.
type Event struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Lead     string          `json:"lead_id"`
	Test     bool            `json:"test,omitzero"` // of a lead that is one
	Attempts int             `json:"attempts"`      // that were signed, however they were answered
	Body     json.RawMessage `json:"body"`
}

// book is what the receiver remembers.
type book struct {
	mu       sync.Mutex
	stats    Stats
	attempts map[string]int // signed deliveries, by id
	taken    map[string]int // where the event is in events
	events   []Event
	limit    int
}

func newBook(limit int) *book {
	return &book{limit: limit, attempts: map[string]int{}, taken: map[string]int{}, stats: Stats{ByType: map[string]int64{}}}
}

// count adds to one of the figures, and to that of the deliveries.
func (b *book) count(figure func(*Stats) *int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stats.Deliveries++
	*figure(&b.stats)++
}

// attempt counts a signed delivery, and gives its number, from 1.
func (b *book) attempt(id string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := b.attempts[id]; n > 0 || len(b.attempts) < b.limit {
		b.attempts[id] = n + 1
	}
	return max(1, b.attempts[id])
}

// take remembers an event that a delivery brought.
func (b *book) take(e *Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, known := b.taken[e.ID]; known {
		b.stats.Repeats++
		if string(b.events[at].Body) != string(e.Body) {
			b.stats.Changed++
		}
		return
	}
	b.stats.Distinct++
	b.stats.ByType[e.Type]++
	if len(b.events) < b.limit {
		b.taken[e.ID] = len(b.events)
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

// all are the events that were taken, in the order of their first delivery.
func (b *book) all() []Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	events := append([]Event(nil), b.events...)
	for i := range events {
		events[i].Attempts = b.attempts[events[i].ID]
	}
	return events
}
