package auction

import "sync"

// pingWorkerPool runs pings on reusable goroutines. A ping needs a deep stack for HTTP and TLS,
// and a new goroutine would have to grow it every time.
//
// Invariants:
//
//   - A ping never waits for a worker: if no worker is idle, submit starts one. The pool
//     limits the idle workers only; Options.MaxPings limits the pings.
//   - An idle worker is in the list exactly once. The code that removes it gives it a ping
//     or ends it.
//
// Rejected: an idle timeout. The idle workers hold a few megabytes, and the garbage
// collector shrinks their stacks.
type pingWorkerPool struct {
	mu     sync.Mutex
	idle   []*pingWorker // the most recently used one last, because its stack is in the cache
	closed bool
}

// pingWorker is one goroutine of a pool.
type pingWorker struct {
	jobs chan job // closed to end the worker
}

// job is one ping of a collector.
type job struct {
	collector *bidCollector
	ping      int
}

const maxIdleWorkers = 512

// submit runs the ping on an idle worker, or on a new one.
func (p *pingWorkerPool) submit(j job) {
	p.mu.Lock()
	last := len(p.idle) - 1
	if last < 0 {
		p.mu.Unlock()
		w := &pingWorker{jobs: make(chan job, 1)}
		go w.run(p, j)
		return
	}
	w := p.idle[last]
	p.idle[last], p.idle = nil, p.idle[:last]
	p.mu.Unlock()
	w.jobs <- j
}

// run runs a ping, and then the pings that submit sends.
func (w *pingWorker) run(p *pingWorkerPool, j job) {
	for more := true; more; j, more = <-w.jobs {
		j.collector.runPing(j.ping)
		if !p.addIdle(w) {
			return
		}
	}
}

// addIdle adds an idle worker. It returns false if the worker must end.
func (p *pingWorkerPool) addIdle(w *pingWorker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= maxIdleWorkers {
		return false
	}
	p.idle = append(p.idle, w)
	return true
}

// close ends the idle workers. Each of the others ends after its ping.
func (p *pingWorkerPool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.idle {
		close(w.jobs)
	}
	p.idle = nil
}
