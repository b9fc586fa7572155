package server

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// live tells those who listen how things stand, once a second, by server-sent events.
// What is told is made once for all of them, and not at all while nobody listens.
type live struct {
	tell  func() []byte // nil: there is nothing to tell any more
	every time.Duration
	hangs time.Duration // how long a listener may take nothing before it is cut off

	mu      sync.Mutex
	streams map[*stream]struct{}
	running bool
	closed  bool
}

const (
	liveEvery  = time.Second
	liveHangs  = 10 * time.Second
	maxStreams = 100

	maxStreamsOf = 20 // one name's
)

func newLive(tell func() []byte) *live {
	return &live{tell: tell, every: liveEvery, hangs: liveHangs, streams: make(map[*stream]struct{})}
}

// open adds a listener, who is told as long as good says; nil: there are too many, in all or
// of this name, or it is over.
func (l *live) open(conn net.Conn, name string, first []byte, good func() bool) *stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.streams) >= maxStreams || l.ofLocked(name) >= maxStreamsOf {
		return nil
	}
	s := &stream{of: l, conn: conn, name: name, good: good, next: make(chan []byte, 1), over: make(chan struct{})}
	s.next <- first
	l.streams[s] = struct{}{}
	if !l.running {
		l.running = true
		go l.run()
	}
	return s
}

func (l *live) ofLocked(name string) (n int) {
	for s := range l.streams {
		if s.name == name {
			n++
		}
	}
	return n
}

// run tells until nobody listens.
func (l *live) run() {
	ticker := time.NewTicker(l.every)
	defer ticker.Stop()
	for range ticker.C {
		if !l.listened() {
			return
		}
		event := l.tell()
		if event == nil {
			l.end()
			continue
		}
		l.mu.Lock()
		for s := range l.streams {
			if !s.good() {
				l.drop(s)
				continue
			}
			s.hear(event)
		}
		l.mu.Unlock()
	}
}

// listened tells whether anybody listens; if not, run is over.
func (l *live) listened() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = len(l.streams) > 0
	return l.running
}

// end ends all streams.
func (l *live) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.streams {
		l.drop(s)
	}
}

// close ends them for good.
func (l *live) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.end()
}

// drop ends a stream. The caller holds the lock.
func (l *live) drop(s *stream) {
	if _, there := l.streams[s]; there {
		delete(l.streams, s)
		close(s.over)
	}
}

// stream is one listener's answer on its way out.
type stream struct {
	of   *live
	conn net.Conn
	name string // who listens
	good func() bool
	next chan []byte
	over chan struct{}
	rest []byte
}

// hear gives the listener an event, unless the one before is still on its way.
func (s *stream) hear(event []byte) {
	select {
	case s.next <- event:
	default:
	}
}

// Read is the library's, while it sends the answer. Each piece has a time of its own to
// be taken in, so one that reads nothing is cut off.
func (s *stream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		select {
		case s.rest = <-s.next:
		case <-s.over:
			return 0, io.EOF
		}
	}
	if err := s.conn.SetWriteDeadline(time.Now().Add(s.of.hangs)); err != nil {
		return 0, err
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Close is the library's, when the listener has gone or the stream has ended.
func (s *stream) Close() error {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.drop(s)
	return nil
}

// answer has the library send it.
func (s *stream) answer(ctx *fasthttp.RequestCtx) {
	ctx.SetContentType("text/event-stream")
	ctx.Response.Header.Set("Cache-Control", "no-store")
	ctx.Response.Header.Set("X-Accel-Buffering", "no") // a proxy must not wait for more
	if !ctx.Request.Header.IsHTTP11() {
		toTheEnd(ctx, s)
		return
	}
	ctx.SetBodyStream(s, -1)
}

// eventOf is a document as an event.
func eventOf(name string, document []byte) []byte {
	event := append([]byte("event: "+name+"\ndata: "), bytes.TrimRight(document, "\n")...)
	return append(event, "\n\n"...)
}
