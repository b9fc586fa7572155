// Package cpuwait measures how long the threads of this process wait for a processor.
package cpuwait

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Meter measures the threads of this process between two calls of WaitingThreads. One goroutine uses it.
type Meter struct {
	folder string // has a folder for each thread, with the file schedstat
	waited time.Duration
	at     time.Time
}

func NewMeter() *Meter { return &Meter{folder: "/proc/self/task"} }

// WaitingThreads returns the average number of threads, since the last call, that could have run but
// had no processor, because other threads or programs used all of them. isKnown is false at the first
// call, and on systems other than Linux.
func (m *Meter) WaitingThreads() (average float64, isKnown bool) {
	waited, at := m.totalWait(), time.Now()
	if waited == 0 {
		return 0, false
	}
	since, added := at.Sub(m.at), waited-m.waited
	isKnown = !m.at.IsZero() && since > 0
	m.waited, m.at = waited, at
	if !isKnown {
		return 0, false
	}
	return max(0, float64(added)/float64(since)), true // a thread that ended takes its time with it
}

// totalWait adds up the time that all present threads have waited. It is zero if the system does not
// count it.
func (m *Meter) totalWait() (sum time.Duration) {
	threads, err := os.ReadDir(m.folder)
	if err != nil {
		return 0
	}
	for _, thread := range threads {
		text, err := os.ReadFile(filepath.Join(m.folder, thread.Name(), "schedstat"))
		fields := bytes.Fields(text) // nanoseconds of running, nanoseconds of waiting, number of turns
		if err != nil || len(fields) < 2 {
			continue // the thread has ended
		}
		nanos, _ := strconv.ParseInt(string(fields[1]), 10, 64)
		sum += time.Duration(nanos)
	}
	return sum
}
