package trace

import "sync"

const (
	// maxQueuedSpans limits the spans in the queue, without those in the batch that is being
	// sent. They take a few megabytes.
	maxQueuedSpans = 20_000
	// fullBatch is the number of spans that are sent at once, without a wait for more.
	fullBatch = 2_000
)

// exportQueue holds the finished requests that still have to be sent to the collector.
type exportQueue struct {
	mu     sync.Mutex
	queued []*TracedRequest
	spans  int
	closed bool
	full   chan struct{} // gets a value when there is a full batch
}

// add queues a finished request for sending. It returns false, and the trace is lost, if the
// queue is full or closed.
func (q *exportQueue) add(r *TracedRequest) (added bool) {
	n := r.maxSpans()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.spans+n > maxQueuedSpans {
		return false
	}
	q.queued = append(q.queued, r)
	if q.spans += n; q.spans >= fullBatch {
		select {
		case q.full <- struct{}{}:
		default:
		}
	}
	return true
}

// removeBatch removes the oldest requests from the queue, as many as fit into one message, and
// returns them. It returns nil if the queue is empty.
func (q *exportQueue) removeBatch() (batchOrNilIfEmpty []*TracedRequest) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, spans := 0, 0
	for n < len(q.queued) && (n == 0 || spans+q.queued[n].maxSpans() <= fullBatch) {
		spans += q.queued[n].maxSpans()
		n++
	}
	batchOrNilIfEmpty = append(batchOrNilIfEmpty, q.queued[:n]...)
	clear(q.queued[:n])
	q.queued, q.spans = q.queued[n:], q.spans-spans
	if len(q.queued) == 0 {
		q.queued = nil
	}
	return batchOrNilIfEmpty
}

// stopAccepting makes add return false from now on.
func (q *exportQueue) stopAccepting() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}
