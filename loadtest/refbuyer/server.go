package refbuyer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
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
	now     func() time.Time
	limiter *limiter
	access  *access
	book    *pingBook
	ledger  *ledger

	unauthorized atomic.Int64
	tests        atomic.Int64
	rooms        sync.Pool // of *room
	timers       sync.Pool // of *time.Timer that are stopped

	listener net.Listener
	server   *fasthttp.Server
	closing  chan struct{} // closed when answers are no longer held back
	close    sync.Once
}

// New makes a buyer and opens its address; it answers once Serve is called.
func New(options Options) (*Buyer, error) {
	options.complete()
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
		now:      time.Now,
		limiter:  newLimiter(options.PingsASecond),
		access:   &access{static: []byte(options.Token), early: options.ExpireEarly, chance: chance(options.Seed), known: map[string]*accessToken{}},
		book:     newPingBook(options.RememberPings),
		ledger:   newLedger(options.Remember),
		listener: listener,
		closing:  make(chan struct{}),
	}
	if options.OAuth != (OAuth{}) {
		b.access.lifetime = options.TokenLifetime
	}
	b.rooms.New = func() any { return new(room) }
	b.server = &fasthttp.Server{
		Name:                  "refbuyer",
		Handler:               b.handle,
		ErrorHandler:          b.unreadable,
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

// silence is a log that nobody reads: what goes wrong with a connection is its
// caller's to tell.
type silence struct{}

func (silence) Printf(string, ...any) {}
