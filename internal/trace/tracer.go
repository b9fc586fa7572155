package trace

import (
	"context"
	"encoding/binary"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"pingpost/engine/market"
	"pingpost/engine/timing"
)

// Options configure a Tracer.
type Options struct {
	Endpoint string // of the collector, such as http://127.0.0.1:4318; New adds /v1/traces
	Headers  http.Header
	Sample   market.ShareInMillionths // traced share of the requests without a valid traceparent
	Tenant   string
	Version  string
	Logger   *slog.Logger
}

// Tracer decides which requests are traced, and exports their spans. Its methods are safe for
// concurrent use. BeginIfSampled of a nil Tracer traces no requests, and Close does nothing.
type Tracer struct {
	opt      Options
	address  string
	limit    uint64 // Sample as a part of 2^63; a request is traced if its random 63 bits are below it
	client   *http.Client
	encoder  encoder
	queue    exportQueue
	interval time.Duration   // between two batches that are not full
	pauses   []time.Duration // between the attempts to send a batch
	warned   time.Time       // when the last warning was logged

	exported, dropped atomic.Uint64 // requests

	ctx    context.Context
	cancel context.CancelFunc
	stop   chan struct{}
	ended  chan struct{}
}

// defaultInterval is how often queued requests are sent if they do not fill a batch earlier.
const defaultInterval = time.Second

// New returns a Tracer and starts the goroutine that sends traces to the collector.
func New(opt Options) *Tracer {
	t := newUnstartedTracer(opt)
	go t.run()
	return t
}

// newUnstartedTracer returns a Tracer that records requests but does not send them yet. Tests
// use it without New.
func newUnstartedTracer(opt Options) *Tracer {
	t := &Tracer{
		opt: opt, address: strings.TrimRight(opt.Endpoint, "/") + "/v1/traces", limit: uint64(opt.Sample) * ((1 << 63) / uint64(market.WholeShare)),
		interval: defaultInterval, pauses: []time.Duration{time.Second, 5 * time.Second},
		client: newClient(), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	t.encoder = encoder{version: opt.Version, resource: []attribute{
		{key: "service.name", text: "pingpost"}, {key: "service.version", text: opt.Version}, {key: "service.namespace", text: opt.Tenant},
	}}
	if opt.Sample >= market.WholeShare {
		t.limit = 1 << 63 // without the rounding
	}
	t.queue.full = make(chan struct{}, 1)
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

// BeginIfSampled decides whether a request is traced, and returns its record, or nil. If the
// caller sent one valid traceparent header, the caller decides. Otherwise the random part of
// the request's id decides, so that the sampled share of requests is traced. The request's id
// is then also the id of the trace.
func (t *Tracer) BeginIfSampled(traceparents [][]byte, id market.RequestID, begun int64) *TracedRequest {
	if t == nil {
		return nil
	}
	if len(traceparents) == 1 {
		if p, ok := parseTraceparent(traceparents[0]); ok {
			if !p.sampled {
				return nil
			}
			return newTracedRequest(p.trace, p.span, id, begun)
		}
	}
	if binary.BigEndian.Uint64(id[8:])>>1 >= t.limit {
		return nil
	}
	return newTracedRequest(id, [8]byte{}, id, begun)
}

// newTracedRequest returns the record of a traced request. parent is the caller's span, or zero if
// the exchange begins the trace. The ids of its spans count up from a random number.
func newTracedRequest(trace [16]byte, parent [8]byte, id market.RequestID, begun int64) *TracedRequest {
	r := &TracedRequest{RequestTrace: timing.RequestTrace{ID: trace, Span: rand.Uint64()}, ID: id, Begun: begun, parent: parent, remote: parent != [8]byte{}}
	r.root = r.NextSpanID()
	return r
}

// End queues a request for sending, after its answer is complete. It never blocks: if the queue
// is full, it drops and counts the trace. A request without an authenticated caller is not
// sent.
func (t *Tracer) End(r *TracedRequest) {
	if r.Caller == "" {
		return
	}
	if !t.queue.add(r) {
		t.dropped.Add(1)
	}
}

// ExportedTraces returns how many traces the collector has accepted.
func (t *Tracer) ExportedTraces() uint64 { return t.exported.Load() }

// DroppedTraces returns how many traces were lost, because the queue was full or the collector did
// not accept them.
func (t *Tracer) DroppedTraces() uint64 { return t.dropped.Load() }

// Close sends the queued traces for at most limit, and then stops the Tracer. Traces that are
// left are lost.
func (t *Tracer) Close(limit time.Duration) {
	if t == nil {
		return
	}
	t.queue.stopAccepting()
	close(t.stop)
	timer := time.AfterFunc(limit, t.cancel)
	<-t.ended
	timer.Stop()
	t.cancel()
	t.client.CloseIdleConnections()
}
