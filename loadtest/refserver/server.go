// Package refserver is what the reference buyer and the reference receiver have in
// common: an address, bounds of what one caller can hold, and an end that holds back no
// answer.
package refserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// Limits of every server: what one caller can hold.
const (
	MaxBody     = 64 << 10 // bytes of a request's body
	readTimeout = 30 * time.Second
	idleTimeout = 2 * time.Minute
)

// A Server listens from the beginning, and answers once Serve is called.
type Server struct {
	HTTP     *fasthttp.Server
	listener net.Listener
	closing  chan struct{}
	close    sync.Once
}

// New opens an address. HTTP says who answers, under which name, and to how many.
func New(listen string, http *fasthttp.Server) (*Server, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", listen, err)
	}
	http.MaxRequestBodySize = MaxBody
	http.ReadTimeout, http.WriteTimeout, http.IdleTimeout = readTimeout, readTimeout, idleTimeout
	http.CloseOnShutdown, http.SecureErrorLogMessage, http.Logger = true, true, silence{}
	return &Server{HTTP: http, listener: listener, closing: make(chan struct{})}, nil
}

// Addr is where it listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Closing is closed when answers are no longer to be held back.
func (s *Server) Closing() <-chan struct{} { return s.closing }

// Serve answers until the context ends or Close is called, which is no error,
// and until the last answer under way is out.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	err := s.HTTP.Serve(s.listener)
	return errors.Join(err, s.Close()) // waits, where another has begun to close
}

// Close stops listening and lets the answers under way go out at once, however
// long they were meant to take.
func (s *Server) Close() error {
	var err error
	s.close.Do(func() {
		close(s.closing)
		err = s.HTTP.Shutdown()
		// Where Serve has not begun, the server knows no listener to close.
		if again := s.listener.Close(); !errors.Is(again, net.ErrClosed) {
			err = errors.Join(err, again)
		}
	})
	return err
}

// silence is a log that nobody reads: what goes wrong with a connection is its
// caller's to tell.
type silence struct{}

func (silence) Printf(string, ...any) {}
