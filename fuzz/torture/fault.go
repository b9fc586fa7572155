//go:build linux

package main

import (
	"cmp"
	"slices"
	"time"
)

// A fault is one thing that happens to an exchange.
type fault struct {
	name   string
	weight int // how often it is chosen, among the others
	// lacks says what this machine does not permit; empty: the fault can be done. Nil:
	// it always can.
	lacks func(t *torture) string
	// strike does it to an exchange that serves, under load, and leaves one that
	// serves. It is false where there was no occasion, which is no failure.
	strike func(t *torture) bool
}

var faults []*fault

// register puts a fault on the list. They are in the order of their names, so that a
// seed chooses the same whatever the files are called.
func register(f fault) *fault {
	faults = append(faults, &f)
	slices.SortFunc(faults, func(a, b *fault) int { return cmp.Compare(a.name, b.name) })
	return &f
}

// deck has every fault as often as it weighs; the first one has each once, so that a
// run of two minutes sees them all.
func deck(t *torture, all []*fault) (cards []*fault) {
	for _, f := range all {
		n := f.weight
		if t.rounds == 0 {
			n = 1
		}
		for range n {
			cards = append(cards, f)
		}
	}
	t.chance.Shuffle(len(cards), func(i, j int) { cards[i], cards[j] = cards[j], cards[i] })
	return cards
}

// within is some instant of a span.
func (t *torture) within(span time.Duration) {
	time.Sleep(time.Duration(t.chance.Int64N(int64(max(span, 1)))))
}
