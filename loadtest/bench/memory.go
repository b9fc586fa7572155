package main

import (
	"fmt"
	"runtime"
	"time"

	"pingpost/engine/state"
)

// memorySpec says for how many leads memory is weighed: at each step of an
// eighth more, from the smallest to the largest.
type memorySpec struct {
	Smallest, Largest int
}

// memoryResult has the live heap, in bytes a lead, at each step.
type memoryResult struct {
	Leads   []int
	PerLead []float64
}

// memory weighs an accepted lead, and an idle process.
func (b *bench) memory() ([]row, error) {
	var weighed memoryResult
	err := child(b.ctx, nil, nil, "role-memory", memorySpec{Smallest: b.size.smallest, Largest: b.size.largest}, &weighed)
	if err != nil {
		return nil, err
	}
	idle, err := b.idle()
	if err != nil {
		return nil, err
	}
	each := series(weighed.PerLead)
	return []row{
		{
			what: fmt.Sprintf("hot memory of an accepted lead with an idempotency key and two duplicate values, %d to %d leads",
				weighed.Leads[0], weighed.Leads[len(weighed.Leads)-1]),
			measured: fmt.Sprintf("%.0f bytes", each.median()), spread: each.spread("%.0f"),
			goal: "300 bytes or fewer", verdict: atMost(each.median(), 300, 300),
			figure: figureMemory, value: each.median(),
		},
		{
			what: "idle process with a small catalog, resident", measured: fmt.Sprintf("%.1f MB", float64(idle)/1e6),
			goal: "30 MB or less", verdict: atMost(float64(idle), 30e6, 30e6),
		},
	}, nil
}

// idle is what a process has resident some seconds after it began to serve.
func (b *bench) idle() (int64, error) {
	s, err := b.startExchange("idle", catalogOf(10))
	if err != nil {
		return 0, err
	}
	defer s.end()
	select {
	case <-time.After(b.size.idle):
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
	return s.resident()
}

// weigh fills a state and looks at the live heap at each step. What tables keep
// in reserve counts too, so the figure swings between two doublings.
func weigh(spec *memorySpec) (*memoryResult, error) {
	s := state.New()
	facts := newFacts(time.Now().UnixNano())
	s.Apply(1, facts.now, facts.names())
	facts.lead(0)
	empty := liveHeap()
	result := new(memoryResult)
	for n, next := 0, spec.Smallest; next <= spec.Largest; next += next / 8 {
		for ; n < next; n++ {
			s.Apply(uint64(n+2), facts.now, facts.lead(n))
		}
		result.Leads = append(result.Leads, n)
		result.PerLead = append(result.PerLead, float64(liveHeap()-empty)/float64(n))
	}
	if s.LeadCount() != result.Leads[len(result.Leads)-1] {
		return nil, fmt.Errorf("%d leads are held of %d", s.LeadCount(), result.Leads[len(result.Leads)-1])
	}
	return result, nil
}

func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
