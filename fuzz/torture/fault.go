//go:build linux

package main

import (
	"cmp"
	"slices"
	"time"
)

// fault is one kind of fault.
type fault struct {
	name   string
	weight int // relative frequency
	// missing returns the reason why this machine does not permit the fault, or "". nil: it is
	// always permitted.
	missing func(t *torture) string
	// inject applies the fault to a serving exchange under load, and leaves a serving exchange.
	// It returns false if there was no occasion, which is no failure.
	inject func(t *torture) bool
}

var faults []*fault

// register adds a fault. Faults are sorted by name, so a seed draws the same faults regardless
// of file names.
func register(f fault) *fault {
	faults = append(faults, &f)
	slices.SortFunc(faults, func(a, b *fault) int { return cmp.Compare(a.name, b.name) })
	return &f
}

// drawFaults returns the faults in random order, each as often as its weight. The first draw
// has each fault once, so a run of two minutes uses all.
func drawFaults(t *torture, all []*fault) (cards []*fault) {
	for _, f := range all {
		n := f.weight
		if t.rounds == 0 {
			n = 1
		}
		for range n {
			cards = append(cards, f)
		}
	}
	t.random.Shuffle(len(cards), func(i, j int) { cards[i], cards[j] = cards[j], cards[i] })
	return cards
}

// sleepUpTo sleeps for a random part of the span.
func (t *torture) sleepUpTo(span time.Duration) {
	time.Sleep(time.Duration(t.random.Int64N(int64(max(span, 1)))))
}
