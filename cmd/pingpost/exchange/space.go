package exchange

import (
	"sync/atomic"
	"time"

	"pingpost/engine"
	"pingpost/wal"
)

// space watches the disk. A full one is seen ahead: leads are refused while
// less is free than the next snapshot and a reserve, so that what was begun can
// always be finished and logged. All resumes by itself.
type space struct {
	free  atomic.Uint64
	needs atomic.Uint64
	low   atomic.Bool
}

const (
	// reserve is kept for outcomes, operators and the programs beside us.
	reserve = 64 << 20
	// lookEvery bounds how much can be written between two looks.
	lookEvery = 250 * time.Millisecond
	// longestDelay and longestQueue are how far behind the log may be before
	// leads are refused.
	longestDelay = time.Second
	longestQueue = 4096
	// queueLength is what the log's queue holds: all that is admitted, and the
	// outcome of every delivery that may be open, which is never refused.
	queueLength = 40_000
)

func (s *space) begin(dir string, gone <-chan struct{}) {
	s.needs.Store(reserve)
	s.look(dir)
	go func() {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				s.look(dir)
			case <-gone:
				return
			}
		}
	}()
}

func (s *space) look(dir string) {
	free, err := wal.Free(dir)
	if err != nil {
		return // the log itself will say so, in its own words
	}
	s.free.Store(free)
	s.low.Store(free < s.needs.Load())
}

// admit refuses intake ahead of trouble: too little disk, or a log that is far
// behind. The engine asks it before it reserves anything.
func (x *Exchange) admit() error {
	if x.room.low.Load() || x.draining.Load() || behind(x.log.Stats()) {
		return engine.ErrUnavailable
	}
	return nil
}

// behind tells whether the log has more to do than it should be given more.
func behind(log wal.Stats) bool {
	return log.QueueDelay > longestDelay || log.Queued > longestQueue
}
