package child

import (
	"fmt"
	"runtime"
	"time"

	"pingpost/engine/state"
)

// MemorySpec describes a measurement of memory. It measures after each eighth more, from
// Smallest to Largest.
type MemorySpec struct {
	Smallest, Largest int
}

// MemoryResult is the live heap in bytes for each lead or ping, at each step.
type MemoryResult struct {
	Leads     []int
	BytesEach []float64
}

// measureLeadMemory fills a state and measures the live heap at each step. Unused capacity
// of the tables counts too, so the figure varies between two doublings.
func measureLeadMemory(spec *MemorySpec) (*MemoryResult, error) {
	s := state.New()
	events := newLeadEvents(time.Now().UnixNano())
	s.Apply(1, events.now, events.namesGiven())
	events.leadDecided(0)
	result, err := spec.measureSteps(0, func(n int) error {
		s.Apply(uint64(n+2), events.now, events.leadDecided(n))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if s.LeadCountWithExpired() != result.Leads[len(result.Leads)-1] {
		return nil, fmt.Errorf("%d leads are held of %d", s.LeadCountWithExpired(), result.Leads[len(result.Leads)-1])
	}
	return result, nil
}

// measureSteps calls add for each number from first, and measures the live heap at each
// step.
func (s *MemorySpec) measureSteps(first int, add func(n int) error) (*MemoryResult, error) {
	empty := liveHeap()
	result := new(MemoryResult)
	for n, next := first, s.Smallest; next <= s.Largest; next += next / 8 {
		for ; n < next; n++ {
			if err := add(n); err != nil {
				return nil, err
			}
		}
		result.Leads = append(result.Leads, n)
		result.BytesEach = append(result.BytesEach, float64(liveHeap()-empty)/float64(n))
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
