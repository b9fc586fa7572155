package trace

import "sync"

const (
	// maxWaiting is how many spans may wait, those that are being sent aside: a few megabytes.
	maxWaiting = 20_000
	// fullBatch is how many are sent without waiting for more.
	fullBatch = 2_000
)

// queue holds what has not been sent yet.
type queue struct {
	mu     sync.Mutex
	waits  []*Request
	spans  int
	closed bool
	full   chan struct{} // gets a value when there is a full batch
}

// add takes a request; false: there is no room.
func (q *queue) add(r *Request) bool {
	n := r.spans()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.spans+n > maxWaiting {
		return false
	}
	q.waits = append(q.waits, r)
	if q.spans += n; q.spans >= fullBatch {
		select {
		case q.full <- struct{}{}:
		default:
		}
	}
	return true
}

// take takes a batch out: nil where nothing waits.
func (q *queue) take() (batch []*Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, spans := 0, 0
	for n < len(q.waits) && (n == 0 || spans+q.waits[n].spans() <= fullBatch) {
		spans += q.waits[n].spans()
		n++
	}
	batch = append(batch, q.waits[:n]...)
	clear(q.waits[:n])
	q.waits, q.spans = q.waits[n:], q.spans-spans
	if len(q.waits) == 0 {
		q.waits = nil
	}
	return batch
}

// close takes no more.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}
