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

	"pingpost/engine"
	"pingpost/engine/market"
)

// Options of a Tracer.
type Options struct {
	Endpoint string // of the collector, such as http://127.0.0.1:4318; /v1/traces is added
	Headers  http.Header
	Sample   market.Share // of the requests on which their callers say nothing
	Tenant   string
	Version  string
	Logger   *slog.Logger
}

// Tracer decides which requests are traced and exports what they have noted. Its methods
// may be called from any goroutine. The nil one traces none.
type Tracer struct {
	opt     Options
	address string
	limit   uint64 // below which a request's chance has to be
	client  *http.Client
	encoder encoder
	queue   queue
	looks   time.Duration // how often what waits is sent
	pauses  []time.Duration
	told    time.Time // when the log was last told of a failure

	exported, dropped atomic.Uint64 // requests

	ctx    context.Context
	cancel context.CancelFunc
	stop   chan struct{}
	ended  chan struct{}
}

// usualLooks is how often what waits is sent, full batch or not.
const usualLooks = time.Second

// New begins to export.
func New(opt Options) *Tracer {
	t := prepare(opt)
	go t.run()
	return t
}

// prepare is New without the beginning.
func prepare(opt Options) *Tracer {
	t := &Tracer{
		opt: opt, address: strings.TrimRight(opt.Endpoint, "/") + "/v1/traces", limit: uint64(opt.Sample) * ((1 << 63) / uint64(market.WholeShare)),
		looks: usualLooks, pauses: []time.Duration{time.Second, 5 * time.Second},
		client: newClient(), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	t.encoder = encoder{version: opt.Version, resource: []attribute{
		{key: "service.name", text: "pingpost"}, {key: "service.version", text: opt.Version}, {key: "service.namespace", text: opt.Tenant},
	}}
	t.queue.full = make(chan struct{}, 1)
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

// Begin decides whether a request is traced; nil: it is not. The caller's own decision
// counts, where it has come with exactly one traceparent that can be read; else the sample
// does, by chance that lies in the request's id: so the same id is always decided alike,
// and is the trace's.
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

// share is the sample as a part of 2^63.
func (t *Tracer) share() uint64 {
	if t.opt.Sample >= market.WholeShare {
		return 1 << 63
	}
	return t.limit
}

// newRequest begins a trace, or goes on with one. Its spans' ids go up from a number
// drawn by chance.
func newRequest(trace [16]byte, parent [8]byte, id market.RequestID, begun int64) *Request {
	r := &Request{Trace: engine.Trace{ID: trace, Span: rand.Uint64()}, ID: id, Begun: begun, parent: parent, remote: parent != [8]byte{}}
	r.root = r.Next()
	return r
}

// End takes a request that has its answer. It waits for nobody.
func (t *Tracer) End(r *Request) {
	if r.Caller == "" {
		return
	}
	if !t.queue.add(r) {
		t.dropped.Add(1)
	}
}

// Exported is how many traces the collector has taken, Dropped how many it never will
// have.
func (t *Tracer) Exported() uint64 { return t.exported.Load() }

// Dropped is how many traces the collector never will have.
func (t *Tracer) Dropped() uint64 { return t.dropped.Load() }

// Close exports what waits, for as long as patience lasts, and ends.
func (t *Tracer) Close(patience time.Duration) {
	if t == nil {
		return
	}
	t.queue.close()
	close(t.stop)
	timer := time.AfterFunc(patience, t.cancel)
	<-t.ended
	timer.Stop()
	t.cancel()
	t.client.CloseIdleConnections()
}
