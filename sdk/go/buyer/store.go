package buyer

import (
	"context"
	"sync"
	"time"
)

// Stored is the answer to a post.
type Stored struct {
	Status    int
	RequestID string
	Body      []byte
}

// Store keeps the answers to posts by key, for at least a day. Processes that serve the same
// endpoint share one.
type Store interface {
	Get(ctx context.Context, key string) (answer Stored, known bool, err error)
	Put(ctx context.Context, key string, answer Stored) error
}

// DefaultRemembered is the default number of posts in memory, about 500 bytes each.
const DefaultRemembered = 100_000

// Remembered is the time that a post stays in memory.
const Remembered = 24 * time.Hour

// Memory is a Store in this process. It removes the oldest posts when it is full.
type Memory struct {
	now func() time.Time

	mu      sync.Mutex
	answers map[string]entry
	ring    []string // keys by age, in a ring that starts at next
	next    int
}

type entry struct {
	answer Stored
	until  time.Time
}

// NewMemory returns a store for so many posts.
func NewMemory(most int) *Memory {
	return &Memory{now: time.Now, answers: map[string]entry{}, ring: make([]string, max(most, 1))}
}

// Get returns an answer.
func (m *Memory) Get(_ context.Context, key string) (Stored, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, known := m.answers[key]
	if !known || !m.now().Before(found.until) {
		return Stored{}, false, nil
	}
	return found.answer, true, nil
}

// Put stores an answer.
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
