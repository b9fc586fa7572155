package main

import "container/heap"

// schedule is the virtual time of a run: functions in the order of their times. Functions of one time run
// in the order in which they were added, so a seed repeats a run exactly.
type schedule struct {
	now   int64 // Unix nanoseconds
	queue scheduledHeap
	added uint64
	ended bool // runs no more functions
}

type scheduled struct {
	at    int64
	order uint64
	run   func()
}

// at runs a function at a later time.
func (s *schedule) at(unixNanos int64, run func()) {
	s.added++
	heap.Push(&s.queue, scheduled{max(unixNanos, s.now), s.added, run})
}

// after runs a function after a duration in nanoseconds.
func (s *schedule) after(nanos int64, run func()) { s.at(s.now+nanos, run) }

// maxAtOnce is far above the number of functions that a run has at one time.
const maxAtOnce = 100_000

// runAll runs all functions, and those that they add.
func (s *schedule) runAll() {
	for atOnce := 0; len(s.queue) > 0 && !s.ended; atOnce++ {
		next := heap.Pop(&s.queue).(scheduled)
		if next.at > s.now {
			atOnce = 0
		}
		if atOnce > maxAtOnce {
			panic("BUG: the protocol makes no progress")
		}
		s.now = next.at
		next.run()
	}
}

type scheduledHeap []scheduled

func (h scheduledHeap) Len() int { return len(h) }
func (h scheduledHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].order < h[j].order
}
func (h scheduledHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *scheduledHeap) Push(x any)   { *h = append(*h, x.(scheduled)) }

func (h *scheduledHeap) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = scheduled{}
	*h = (*h)[:len(*h)-1]
	return last
}
