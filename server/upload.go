package server

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

const (
	maxUpload     = 4 << 30       // bytes
	uploadPause   = slowest       // that may be between two bytes
	uploadLongest = 6 * time.Hour // from the first to the last
)

var (
	errUploadBytes = errors.New("too many bytes")
	errUploadLeft  = errors.New("who sends it is no longer let in")
)

const uploadLooks = time.Second // between two looks at who sends it

// uploadReader reads a body that may take hours, as long as it goes on. The library
// takes a connection that broke for a body's end: that is told apart here.
type uploadReader struct {
	from   io.Reader
	conn   net.Conn
	guest  *guest
	length int // -1: it comes in chunks
	read   int
	until  time.Time
	good   func() bool // whether who sends it would still be let in
	looked time.Time   // when that was last asked
	ended  bool
	broken error
}

func (u *uploadReader) Read(p []byte) (int, error) {
	switch {
	case u.broken != nil:
		return 0, u.broken
	case u.ended || u.from == nil:
		u.ended = true
		return 0, io.EOF
	}
	deadline := time.Now().Add(uploadPause)
	if deadline.After(u.until) {
		deadline = u.until
	}
	if err := u.conn.SetReadDeadline(deadline); err != nil {
		u.broken = err
		return 0, err
	}
	n, err := u.from.Read(p)
	u.read += n
	left := false
	if now := time.Now(); err != nil || now.Sub(u.looked) >= uploadLooks {
		u.looked, left = now, !u.good()
	}
	switch {
	case left:
		u.broken = errUploadLeft
	case u.read > maxUpload:
		u.broken = errUploadBytes
	case errors.Is(err, io.EOF) && (u.length >= 0 && u.read < u.length || u.length < 0 && u.guest.hungUp()):
		u.broken = io.ErrUnexpectedEOF
	case errors.Is(err, io.EOF):
		u.ended = true
		return n, io.EOF
	case err != nil:
		u.broken = err
	}
	return n, u.broken
}

// drain reads a little of what is left, so that who is still sending hears why it
// was refused.
func (u *uploadReader) drain() {
	if !u.ended && u.broken == nil {
		_, _ = io.CopyN(io.Discard, u, drained)
	}
}

// loading is the upload that is under way.
type loading struct {
	mu    sync.Mutex
	conn  net.Conn
	ended bool
}

// begin tells whether an upload may begin.
func (l *loading) begin(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil || l.ended {
		return false
	}
	l.conn = conn
	return true
}

func (l *loading) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = nil
}

// end breaks the upload off: a stop does not wait for it.
func (l *loading) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended = true; l.conn != nil {
		_ = l.conn.Close()
	}
}
