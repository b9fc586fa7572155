package server

import (
	"bytes"
	"sync"

	"pingpost/engine/market"
)

// How many large answers of a kind may be on their way at once, and how many of them to
// one caller: those with seeded leads, and those to batches of reports. Each is half a
// megabyte or more, and stays in memory until it was read or its time is over.
const (
	mostOut   = 64
	mostOutOf = 32
)

// answersOut counts those of one kind, from before they are made.
type answersOut struct {
	mu  sync.Mutex
	all int
	of  map[market.Ref]int
}

// enter takes a place; false: there is none.
func (c *answersOut) enter(supplier market.Ref) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all >= mostOut || c.of[supplier] >= mostOutOf {
		return false
	}
	if c.of == nil {
		c.of = make(map[market.Ref]int)
	}
	c.all++
	c.of[supplier]++
	return true
}

func (c *answersOut) leave(supplier market.Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.of[supplier]--; c.of[supplier] == 0 {
		delete(c.of, supplier)
	}
}

// countedAnswer is such an answer, on its way to whoever reads it.
type countedAnswer struct {
	bytes.Reader
	left func()
}

// Close is the library's, once the answer was sent or nobody takes it any more.
func (a *countedAnswer) Close() error {
	a.left()
	a.left = func() {}
	return nil
}
