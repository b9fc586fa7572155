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

// Options of a Tracer.
type Options struct {
	Endpoint string // of the collector, such as http://127.0.0.1:4318; New adds /v1/traces
	Headers  http.Header
	Sample   market.PriceShare // share of traced requests, for requests without a traceparent
	Tenant   string
	Version  string
	Logger   *slog.Logger
}

// Tracer decides which requests are traced, and exports their spans. Its methods are safe for
// concurrent use. A nil Tracer traces no requests.
type Tracer struct {
	opt      Options
	address  string
	limit    uint64 // Sample as a part of 2^63
	client   *http.Client
	encoder  encoder
	queue    queue
	interval time.Duration   // between two batches that are not full
	pauses   []time.Duration // between the attempts to send a batch
	warned   time.Time       // when the last warning was logged

	exported, dropped atomic.Uint64 // requests

	ctx    context.Context
	cancel context.CancelFunc
	stop   chan struct{}
	ended  chan struct{}
}

// defaultInterval is the time between two batches that are not full.
const defaultInterval = time.Second

// New returns a Tracer and starts the export.
func New(opt Options) *Tracer {
	t := prepare(opt)
	go t.run()
	return t
}

// prepare returns a Tracer that does not export yet.
func prepare(opt Options) *Tracer {
	t := &Tracer{
		opt: opt, address: strings.TrimRight(opt.Endpoint, "/") + "/v1/traces", limit: uint64(opt.Sample) * ((1 << 63) / uint64(market.WholeShare)),
		interval: defaultInterval, pauses: []time.Duration{time.Second, 5 * time.Second},
		client: newClient(), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	t.encoder = encoder{version: opt.Version, resource: []attribute{
		{key: "service.name", text: "pingpost"}, {key: "service.version", text: opt.Version}, {key: "service.namespace", text: opt.Tenant},
	}}
	t.queue.full = make(chan struct{}, 1)
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

// Begin decides whether a request is traced, and returns nil if it is not. A single valid
// traceparent has the caller's decision. Otherwise the random part of the request's id
// decides, so that equal ids have equal decisions. The id is then also the trace's.
func (t *Tracer) Begin(traceparents [][]byte, id market.RequestID, begun int64) *Request {
	if t == nil {
		return nil
	}
	if len(traceparents) == 1 {
		if p, ok := parseParent(traceparents[0]); ok {
			if !p.sampled {
				return nil
			}
			return newRequest(p.trace, p.span, id, begun)
		}
	}
	if binary.BigEndian.Uint64(id[8:])>>1 >= t.share() {
		return nil
	}
	return newRequest(id, [8]byte{}, id, begun)
}

// share returns the sample as a part of 2^63.
func (t *Tracer) share() uint64 {
	if t.opt.Sample >= market.WholeShare {
		return 1 << 63
	}
	return t.limit
}

// newRequest returns the record of a request in a new or a caller's trace. The ids of its
// spans count up from a random number.
func newRequest(trace [16]byte, parent [8]byte, id market.RequestID, begun int64) *Request {
	r := &Request{Trace: timing.Trace{ID: trace, Span: rand.Uint64()}, ID: id, Begun: begun, parent: parent, remote: parent != [8]byte{}}
	r.root = r.Next()
	return r
}

// End queues a request that has its answer. It never blocks.
func (t *Tracer) End(r *Request) {
	if r.Caller == "" {
		return
	}
	if !t.queue.add(r) {
		t.dropped.Add(1)
	}
}

// Exported returns the number of traces that the collector has accepted.
func (t *Tracer) Exported() uint64 { return t.exported.Load() }

// Dropped returns the number of traces that were lost.
func (t *Tracer) Dropped() uint64 { return t.dropped.Load() }

// Close exports the queued requests, within a time limit, and stops.
func (t *Tracer) Close(limit time.Duration) {
	if t == nil {
		return
	}
	t.queue.close()
	close(t.stop)
	timer := time.AfterFunc(limit, t.cancel)
	<-t.ended
	timer.Stop()
	t.cancel()
	t.client.CloseIdleConnections()
}
