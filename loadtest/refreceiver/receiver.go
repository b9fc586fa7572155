package refreceiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/loadtest/refbuyer"
	"pingpost/server/webhook/signature"
)

// Limits of the server: what one caller can hold.
const (
	maxBody     = 64 << 10
	maxConns    = 4 << 10
	readTimeout = 30 * time.Second
	idleTimeout = 2 * time.Minute
)

// Receiver is a reference receiver that listens.
type Receiver struct {
	options  Options
	key      signature.Key
	book     *book
	listener net.Listener
	server   *fasthttp.Server
	closing  chan struct{} // closed when answers are no longer held back
	close    sync.Once
}

// New makes a receiver and opens its address; it answers once Serve is called.
func New(options Options) (*Receiver, error) {
	options.complete()
	key, err := options.check()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", options.Listen)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", options.Listen, err)
	}
	r := &Receiver{
		options: options, key: key, book: newBook(options.Remember),
		listener: listener, closing: make(chan struct{}),
	}
	r.server = &fasthttp.Server{
		Name: "refreceiver", Handler: r.handle, Concurrency: maxConns, MaxRequestBodySize: maxBody,
		ReadTimeout: readTimeout, WriteTimeout: readTimeout, IdleTimeout: idleTimeout,
		CloseOnShutdown: true, SecureErrorLogMessage: true, Logger: silence{},
	}
	return r, nil
}

// Addr is where the receiver listens.
func (r *Receiver) Addr() net.Addr { return r.listener.Addr() }

// Stats is what has come so far; Events are those that were taken, in the order of
// their first delivery.
func (r *Receiver) Stats() Stats    { return r.book.snapshot() }
func (r *Receiver) Events() []Event { return r.book.all() }

// Serve answers until the context ends or Close is called, which is no error,
// and until the last answer under way is out.
func (r *Receiver) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = r.Close() })
	defer stop()
	err := r.server.Serve(r.listener)
	return errors.Join(err, r.Close()) // waits, where another has begun to close
}

// Close stops listening and lets the answers under way go out at once, however
// long they were meant to take.
func (r *Receiver) Close() error {
	var err error
	r.close.Do(func() {
		close(r.closing)
		err = r.server.Shutdown()
		// Where Serve has not begun, the server knows no listener to close.
		if again := r.listener.Close(); !errors.Is(again, net.ErrClosed) {
			err = errors.Join(err, again)
		}
	})
	return err
}

func (r *Receiver) handle(ctx *fasthttp.RequestCtx) {
	switch path := string(ctx.Path()); {
	case path == "/stats" && ctx.IsGet():
		answer(ctx, r.Stats())
	case path == "/events" && ctx.IsGet():
		ctx.SetContentType("application/x-ndjson")
		lines := json.NewEncoder(ctx)
		for _, e := range r.Events() {
			_ = lines.Encode(e) // into memory
		}
	case ctx.IsPost():
		r.hook(ctx)
	default:
		ctx.Error("post webhooks to any path, or get /stats or /events", fasthttp.StatusNotFound)
	}
}

func answer(ctx *fasthttp.RequestCtx, v any) {
	ctx.SetContentType("application/json")
	_ = json.NewEncoder(ctx).Encode(v) // into memory
}

// hook takes one delivery.
func (r *Receiver) hook(ctx *fasthttp.RequestCtx) {
	head := &ctx.Request.Header
	d := delivery{
		id: string(head.Peek("webhook-id")), timestamp: string(head.Peek("webhook-timestamp")),
		standard: string(head.Peek("webhook-signature")), own: string(head.Peek("X-Pingpost-Signature")),
		body: ctx.PostBody(),
	}
	if err := d.verify(r.key, time.Now()); err != nil {
		r.book.count(func(s *Stats) *int64 { return &s.BadSignatures })
		ctx.Error(err.Error(), fasthttp.StatusUnauthorized)
		return
	}
	attempt := r.book.attempt(d.id)
	event, err := d.read()
	if err != nil {
		r.book.count(func(s *Stats) *int64 { return &s.Invalid })
		ctx.Error(err.Error(), fasthttp.StatusUnprocessableEntity)
		return
	}
	if latency := r.options.Latency; latency != nil {
		r.pause(latency.At(r.draw(drawDelay, &d, attempt)))
	}
	r.decide(ctx, &d, attempt, event)
}

// decide takes an event or does not, and answers.
func (r *Receiver) decide(ctx *fasthttp.RequestCtx, d *delivery, attempt int, event *Event) {
	fails := r.draw(drawFail, d, attempt) < r.options.FailRate
	how, babbles := r.nonsense(d, attempt)
	if !fails && (!babbles || how.acknowledges()) || r.draw(drawTaken, d, attempt) < 0.5 {
		r.book.take(event)
	}
	switch {
	case fails:
		r.book.count(func(s *Stats) *int64 { return &s.Failed })
		ctx.Error("as it was told to", fasthttp.StatusInternalServerError)
	case babbles:
		r.book.count(func(s *Stats) *int64 { return &s.Malformed })
		r.babble(ctx, how)
	default:
		r.book.count(func(s *Stats) *int64 { return &s.Acknowledged })
		ctx.SetStatusCode(fasthttp.StatusNoContent)
	}
}

// What is left to chance. Each has draws of its own.
const (
	drawFail uint8 = iota + 1
	drawTaken
	drawDelay
	drawMalformed
	drawMalformation // which of them
)

func (r *Receiver) draw(what uint8, d *delivery, attempt int) float64 {
	return refbuyer.Draw(r.options.Seed, what, []byte(d.id), attempt)
}

// read makes an event of a delivery that was verified.
func (d *delivery) read() (*Event, error) {
	var said struct {
		ID      string `json:"id"`
		Type    string `json:"type"`
		Created string `json:"created_at"`
		Data    struct {
			Lead string `json:"lead_id"`
			Test bool   `json:"test"`
		} `json:"data"`
	}
	if err := json.Unmarshal(d.body, &said); err != nil || said.Type == "" || said.Created == "" || said.Data.Lead == "" {
		return nil, errors.New("this is no event")
	}
	if said.ID != d.id {
		return nil, errors.New("the event's id is not webhook-id")
	}
	return &Event{ID: said.ID, Type: said.Type, Lead: said.Data.Lead, Test: said.Data.Test, Body: append(json.RawMessage(nil), d.body...)}, nil
}

// pause waits, and tells whether the receiver is still open.
func (r *Receiver) pause(t time.Duration) bool {
	if t <= 0 {
		return true
	}
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.closing:
		return false
	}
}

// silence is a log that nobody reads: what goes wrong with a connection is its
// caller's to tell.
type silence struct{}

func (silence) Printf(string, ...any) {}
