package auction

import "sync"

// pingWorkerPool runs pings on reusable goroutines. A ping needs a deep stack for HTTP and TLS,
// and a new goroutine would have to grow it every time.
//
// Invariants:
//
//   - A ping never waits for a worker: if no worker is idle, the pool starts one. The pool limits
//     the idle workers only; RunnerOptions.MaxPings limits the pings.
//   - An idle worker is in the list exactly once. The code that removes it gives it a ping or
//     ends it.
//
// Rejected: an idle timeout. The idle workers hold a few megabytes, and the garbage collector
// shrinks their stacks.
type pingWorkerPool struct {
	mu     sync.Mutex
	idle   []*pingWorker // the most recently used one last, because its stack is in the cache
	closed bool
}

// pingWorker is one goroutine of a pingWorkerPool. It runs one ping after another.
type pingWorker struct {
	jobs chan pingJob // closed to end the worker
}

// pingJob is a task for a worker: the ping with this index in a collector.
type pingJob struct {
	collector *bidCollector
	ping      int
}

const maxIdleWorkers = 512

// startOnIdleOrNewWorker runs a ping on an idle worker, or on a new worker if none is idle. It
// never blocks.
func (p *pingWorkerPool) startOnIdleOrNewWorker(j pingJob) {
	p.mu.Lock()
	last := len(p.idle) - 1
	if last < 0 {
		p.mu.Unlock()
		w := &pingWorker{jobs: make(chan pingJob, 1)}
		go w.run(p, j)
		return
	}
	w := p.idle[last]
	p.idle[last], p.idle = nil, p.idle[:last]
	p.mu.Unlock()
	w.jobs <- j
}

// run is the worker's goroutine: it runs the ping j, and then the pings that the pool gives to the
// idle worker. It returns when the pool needs the worker no longer.
func (w *pingWorker) run(p *pingWorkerPool, j pingJob) {
	for more := true; more; j, more = <-w.jobs {
		j.collector.runPing(j.ping)
		if !p.addIdle(w) {
			return
		}
	}
}

// addIdle adds a worker that has finished its ping to the idle ones. It returns false if the pool
// is closed or has enough idle workers; the worker must then end.
func (p *pingWorkerPool) addIdle(w *pingWorker) (kept bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= maxIdleWorkers {
		return false
	}
	p.idle = append(p.idle, w)
	return true
}

// closePoolAndIdleWorkers ends the idle workers of the pool. Busy workers end after their ping.
func (p *pingWorkerPool) closePoolAndIdleWorkers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.idle {
		close(w.jobs)
	}
	p.idle = nil
}
