package server

import (
	"bytes"
	"sync"

	"pingpost/engine/market"
)

// How many answers with leads may be on their way at once, and how many of them to
// one supplier. Each is a megabyte or more, and stays in memory until it was read: a
// sandbox may share its process with an exchange in earnest.
const (
	mostSeeds   = 64
	mostSeedsOf = 32
)

// seedCrowd counts those answers, from before their leads are made.
type seedCrowd struct {
	mu  sync.Mutex
	all int
	of  map[market.Ref]int
}

// enter takes a place; false: there is none.
func (c *seedCrowd) enter(supplier market.Ref) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all >= mostSeeds || c.of[supplier] >= mostSeedsOf {
		return false
	}
	if c.of == nil {
		c.of = make(map[market.Ref]int)
	}
	c.all++
	c.of[supplier]++
	return true
}

func (c *seedCrowd) leave(supplier market.Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.of[supplier]--; c.of[supplier] == 0 {
		delete(c.of, supplier)
	}
}

// seedAnswer is such an answer, on its way to whoever reads it.
type seedAnswer struct {
	bytes.Reader
	left func()
}

// Close is the library's, once the answer was sent or nobody takes it any more.
func (a *seedAnswer) Close() error {
	a.left()
	a.left = func() {}
	return nil
}
