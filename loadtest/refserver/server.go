// Package refserver is the common server of the reference buyer and the reference
// receiver: an address, limits for each caller, and a shutdown that releases delayed
// answers.
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

// These limit the resources of one caller.
const (
	MaxBody     = 64 << 10 // bytes of a request body
	readTimeout = 30 * time.Second
	idleTimeout = 2 * time.Minute
)

// Server listens after New, and answers once Serve is called.
type Server struct {
	HTTP     *fasthttp.Server
	listener net.Listener
	closing  chan struct{}
	close    sync.Once
	timers   sync.Pool // of stopped *time.Timer
}

// New opens an address. http has the handler, the name and the concurrency.
func New(listen string, http *fasthttp.Server) (*Server, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", listen, err)
	}
	http.MaxRequestBodySize = MaxBody
	http.ReadTimeout, http.WriteTimeout, http.IdleTimeout = readTimeout, readTimeout, idleTimeout
	http.CloseOnShutdown, http.SecureErrorLogMessage, http.Logger = true, true, discardLogger{}
	return &Server{HTTP: http, listener: listener, closing: make(chan struct{})}, nil
}

// Addr returns the address.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Closing returns a channel that is closed when delayed answers must be sent.
func (s *Server) Closing() <-chan struct{} { return s.closing }

// Serve answers until the context ends or Close is called, and then waits for open
// answers. It returns nil in both cases.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	err := s.HTTP.Serve(s.listener)
	return errors.Join(err, s.Close()) // waits for a concurrent Close
}

// Close stops listening and releases delayed answers.
func (s *Server) Close() error {
	var err error
	s.close.Do(func() {
		close(s.closing)
		err = s.HTTP.Shutdown()
		// If Serve was not called, the server has no listener to close.
		if again := s.listener.Close(); !errors.Is(again, net.ErrClosed) {
			err = errors.Join(err, again)
		}
	})
	return err
}

// Pause waits, and reports whether the server is still open.
func (s *Server) Pause(d time.Duration) (open bool) {
	if d <= 0 {
		return true
	}
	timer, ok := s.timers.Get().(*time.Timer)
	if ok {
		timer.Reset(d)
	} else {
		timer = time.NewTimer(d)
	}
	defer s.timers.Put(timer)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.closing:
		return false
	}
}

// trickleInterval is the time between two bytes.
const trickleInterval = 100 * time.Millisecond

// Trickle writes byte by byte until the peer or the server closes.
func (s *Server) Trickle(conn net.Conn, text []byte) {
	for i := range text {
		if _, err := conn.Write(text[i : i+1]); err != nil || !s.Pause(trickleInterval) {
			return
		}
	}
}

// WriteRaw calls write with the connection of a request instead of sending the response.
// The server then closes the connection.
func (s *Server) WriteRaw(r *fasthttp.RequestCtx, write func(conn net.Conn)) {
	conn := r.Conn()
	_ = conn.SetWriteDeadline(time.Time{}) // the deadline of the previous answer may be near
	write(conn)
	r.HijackSetNoResponse(true)
	r.Hijack(func(net.Conn) {})
}

// ResetAfter writes the text and then resets the connection.
func ResetAfter(conn net.Conn, text []byte) {
	_, _ = conn.Write(text)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}

// discardLogger discards log messages: the caller of a connection reports its own errors.
type discardLogger struct{}

func (discardLogger) Printf(string, ...any) {}
