package refbuyer

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// Limits of the server: what one caller can hold.
const (
	maxBody     = 64 << 10
	maxConns    = 16 << 10
	readTimeout = 30 * time.Second
	idleTimeout = 2 * time.Minute
)

// Buyer is a reference buyer that listens.
type Buyer struct {
	options Options
	chance  chance
	ledger  *ledger

	listener net.Listener
	server   *fasthttp.Server
	closing  chan struct{} // closed when answers are no longer held back
	close    sync.Once
}

// New makes a buyer and opens its address; it answers once Serve is called.
func New(options Options) (*Buyer, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", options.Listen)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", options.Listen, err)
	}
	b := &Buyer{
		options:  options,
		chance:   chance(options.Seed),
		ledger:   newLedger(options.Remember, options.Bid),
		listener: listener,
		closing:  make(chan struct{}),
	}
	b.server = &fasthttp.Server{
		Name:                  "refbuyer",
		Handler:               b.handle,
		ErrorHandler:          b.malformed,
		Concurrency:           maxConns,
		MaxRequestBodySize:    maxBody,
		ReadTimeout:           readTimeout,
		WriteTimeout:          readTimeout,
		IdleTimeout:           idleTimeout,
		CloseOnShutdown:       true,
		SecureErrorLogMessage: true,
		Logger:                silence{},
	}
	return b, nil
}

// Addr is where the buyer listens.
func (b *Buyer) Addr() net.Addr { return b.listener.Addr() }

// Stats is what has come so far.
func (b *Buyer) Stats() Stats { return b.ledger.snapshot() }

// Leads is what was accepted and is remembered, oldest first.
func (b *Buyer) Leads() []Lead { return b.ledger.accepted() }

// Serve answers until the context ends or Close is called, which is no error,
// and until the last answer under way is out.
func (b *Buyer) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = b.Close() })
	defer stop()
	err := b.server.Serve(b.listener)
	return errors.Join(err, b.Close()) // waits, where another has begun to close
}

// Close stops listening and lets the answers under way go out at once, however
// long they were meant to take.
func (b *Buyer) Close() error {
	var err error
	b.close.Do(func() {
		close(b.closing)
		err = b.server.Shutdown()
		// Where Serve has not begun, the server knows no listener to close.
		if again := b.listener.Close(); !errors.Is(again, net.ErrClosed) {
			err = errors.Join(err, again)
		}
	})
	return err
}

func (b *Buyer) handle(r *fasthttp.RequestCtx) {
	switch path := string(r.Path()); path {
	case "/v1/ping", "/v1/post":
		switch {
		case !r.IsPost():
			b.methodNotAllowed(r, fasthttp.MethodPost)
		case !b.authorized(r):
			r.Response.Header.Set("WWW-Authenticate", "Bearer")
			b.refuse(r, fasthttp.StatusUnauthorized, "unauthorized", "this buyer asks for a bearer token")
		case path == "/v1/ping":
			b.ping(r)
		default:
			b.post(r)
		}
	case "/stats", "/leads":
		switch {
		case !r.IsGet():
			b.methodNotAllowed(r, fasthttp.MethodGet)
		case path == "/stats":
			answer(r, fasthttp.StatusOK, b.Stats())
		default:
			b.listLeads(r)
		}
	default:
		b.refuse(r, fasthttp.StatusNotFound, "not_found", "there are /v1/ping, /v1/post, /stats and /leads")
	}
}

func (b *Buyer) authorized(r *fasthttp.RequestCtx) bool {
	if b.options.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(string(r.Request.Header.Peek("Authorization")), " ")
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare([]byte(token), []byte(b.options.Token)) == 1
}

// dawdle holds an answer back for as long as chance says.
func (b *Buyer) dawdle(key string, attempt int) {
	if b.options.Latency == nil {
		return
	}
	delay := b.options.Latency.At(b.chance.draw(drawDelay, key, attempt))
	if delay <= 0 {
		return
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-b.closing:
	}
}

// silence is a log that nobody reads: what goes wrong with a connection is its
// caller's to tell.
type silence struct{}

func (silence) Printf(string, ...any) {}
