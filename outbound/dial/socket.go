package dial

import (
	"net"
	"os"
	"syscall"
	"time"
)

// socketConn is a TCP connection, below TLS if the endpoint uses it. It counts the bytes that the
// network accepted.
// Only this layer knows them: TLS can send a part of a record and report that it wrote no byte.
// The count includes TLS's own messages, so a request counts as sent rather too often than too
// rarely.
type socketConn struct {
	net.Conn
	sentBytes   int64
	nonBlocking bool // Read returns available bytes and does not wait
	sawData     bool // a non-blocking Read found data

	// raw is nil if the connection is not a socket. peekStep is stored because a new
	// closure for each check would allocate.
	raw        syscall.RawConn
	peekStep   func(descriptor uintptr)
	peekResult bool // result of the last check

	sending rawSendState
}

func newSocketConn(conn net.Conn) *socketConn {
	w := &socketConn{Conn: conn}
	if socket, ok := conn.(syscall.Conn); ok {
		if raw, err := socket.SyscallConn(); err == nil {
			w.raw = raw
		}
	}
	w.peekStep = func(descriptor uintptr) { w.peekResult = hasInputOrEnd(descriptor) }
	w.sending.step = w.sendStep
	return w
}

// Read reads from the socket. While nonBlocking is set, it returns os.ErrDeadlineExceeded at
// once if no data has arrived.
func (w *socketConn) Read(p []byte) (int, error) {
	if !w.nonBlocking {
		return w.Conn.Read(p)
	}
	if !w.hasPendingDataOrEnd() {
		return 0, os.ErrDeadlineExceeded
	}
	w.sawData = true
	if err := w.SetReadDeadline(time.Now().Add(readGrace)); err != nil {
		return 0, err
	}
	return w.Conn.Read(p)
}

// readGrace is the deadline of a read of data that has already arrived. The read waits only if a TLS record has arrived
// in part. A shorter deadline could end before the read begins, if other threads use the processors.
const readGrace = 20 * time.Millisecond

// hasPendingDataOrEnd reports whether data or the end of the connection has arrived. It returns
// false if the connection offers no such check; the next read then finds out.
func (w *socketConn) hasPendingDataOrEnd() bool {
	if w.raw == nil {
		return false
	}
	w.peekResult = false
	return w.raw.Control(w.peekStep) == nil && w.peekResult
}

func (w *socketConn) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	w.sentBytes += int64(n)
	return n, err
}
