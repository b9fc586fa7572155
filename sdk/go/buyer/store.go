package buyer

import (
	"context"
	"sync"
	"time"
)

// Stored is what a post was answered.
type Stored struct {
	Status    int
	RequestID string
	Body      []byte
}

// Store remembers what posts were answered, by their keys, for a day at least. Several
// processes that serve one endpoint share one.
type Store interface {
	Get(ctx context.Context, key string) (answer Stored, known bool, err error)
	Put(ctx context.Context, key string, answer Stored) error
}

// DefaultRemembered is how many posts are remembered in memory, some 500 bytes each.
const DefaultRemembered = 100_000

// Remembered is how long a post is remembered in memory.
const Remembered = 24 * time.Hour

// Memory is a Store of this process. It remembers so many posts at most; the oldest are
// forgotten first.
type Memory struct {
	now func() time.Time

	mu      sync.Mutex
	answers map[string]entry
	ring    []string // keys in the order in which they came, from next on around
	next    int
}

type entry struct {
	answer Stored
	until  time.Time
}

// NewMemory makes a store for so many posts.
func NewMemory(most int) *Memory {
	return &Memory{now: time.Now, answers: map[string]entry{}, ring: make([]string, max(most, 1))}
}

// Get finds an answer.
func (m *Memory) Get(_ context.Context, key string) (Stored, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, known := m.answers[key]
	if !known || !m.now().Before(found.until) {
		return Stored{}, false, nil
	}
	return found.answer, true, nil
}

// Put remembers an answer.
func (m *Memory) Put(_ context.Context, key string, answer Stored) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, known := m.answers[key]
	m.answers[key] = entry{answer, m.now().Add(Remembered)}
	if known {
		return nil
	}
	delete(m.answers, m.ring[m.next])
	m.ring[m.next] = key
	m.next = (m.next + 1) % len(m.ring)
	return nil
}
