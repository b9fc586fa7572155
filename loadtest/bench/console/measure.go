package console

import (
	"fmt"
	"slices"
	"time"
)

// Times are the durations of an operation, in milliseconds.
type Times struct {
	Operation

	Milliseconds []float64
}

// Median returns the middle duration.
func (t *Times) Median() float64 {
	sorted := slices.Sorted(slices.Values(t.Milliseconds))
	return sorted[len(sorted)/2]
}

// Max returns the longest duration.
func (t *Times) Max() float64 { return slices.Max(t.Milliseconds) }

// Measure sends each operation several times in turn, so that a short disturbance of the machine hits
// one request of an operation and not all. An error of an operation ends the measurement.
func Measure(operations []Operation, repetitions int, send func(*Operation) error) ([]Times, error) {
	all := make([]Times, len(operations))
	for range max(1, repetitions) {
		for i := range operations {
			all[i].Operation = operations[i]
			began := time.Now()
			if err := send(&operations[i]); err != nil {
				return nil, fmt.Errorf("%s: %w", operations[i].Name, err)
			}
			all[i].Milliseconds = append(all[i].Milliseconds, time.Since(began).Seconds()*1e3)
		}
	}
	return all, nil
}
