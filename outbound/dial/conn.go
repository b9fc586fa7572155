package dial

import (
	"bytes"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

var errUnexpectedDataOrEnd = errors.New("the endpoint closed the reused connection, or sent data on it, before the next request was sent")

// checkIfReusedAndSendRequest writes a request to the connection. If a plain socket accepts the whole
// request at once, it also waits for the answer's first byte, the deadline or a broken connection.
// isReused says that the connection carried another request before. If it then already holds data or
// was closed, checkIfReusedAndSendRequest sends no byte and returns errUnexpectedDataOrEnd. Other
// errors are from the network.
func (c *outboundConn) checkIfReusedAndSendRequest(request []byte, isReused bool) error {
	if net.Conn(c.socket) == c.Conn && c.socket.raw != nil && canWriteRaw {
		err := c.socket.sendAndWaitForFirstByte(request, isReused)
		if errors.Is(err, errUnexpectedDataOrEnd) {
			c.readUnexpectedDataOrEnd()
		}
		return err
	}
	if isReused && c.readUnexpectedDataOrEnd() {
		return errUnexpectedDataOrEnd
	}
	_, err := c.Conn.Write(request)
	return err
}

// outboundConn is a connection for HTTP requests: a plain socket, or TLS over it. One goroutine
// at a time owns it. It has no lock, because the pool hands it over under the pool's lock.
type outboundConn struct {
	net.Conn
	socket    *socketConn
	openCount *atomic.Int64 // the dialer's count of open connections, nil in tests

	// latestDeadline is the deadline that is set on the connection. It also serves for requests whose
	// deadlines may take effect late and are between these two.
	earliestDeadline, latestDeadline time.Time

	probeBuffer    [32]byte
	sawExtraAnswer bool // readUnexpectedDataOrEnd found an extra answer
	used           bool // it has carried a request before

	idleSince time.Duration // when the pool got it back, by Hosts.clock

	sentBefore  int64 // socket.sentBytes when the current request began
	answerBytes int64 // bytes of the current request's answer
}

// resetForRequest prepares the connection's counters for the next request. isReused reports whether
// the connection has carried a request before.
func (c *outboundConn) resetForRequest() (isReused bool) {
	isReused = c.used
	c.used, c.sentBefore, c.answerBytes = true, c.socket.sentBytes, 0
	return isReused
}

// readUnexpectedDataOrEnd reports whether the connection holds data, or was closed, before the next
// request is sent. That request would take such data for its own answer. The caller closes the
// connection then.
//
// It reads through TLS, which may have buffered more than the previous answer. The socket does
// not block meanwhile. TLS treats the resulting error as a timeout and stays usable.
//
// Data that arrives between this check and the answer stays undetected. HTTP/1.1 offers no way
// to detect it (see hostConns).
func (c *outboundConn) readUnexpectedDataOrEnd() (foundAny bool) {
	c.socket.nonBlocking, c.socket.sawData = true, false
	n, err := c.Conn.Read(c.probeBuffer[:])
	c.socket.nonBlocking = false
	c.sawExtraAnswer = isNeitherBlankNor408(c.probeBuffer[:n])
	return n > 0 || c.socket.sawData || !errors.Is(err, os.ErrDeadlineExceeded)
}

// isNeitherBlankNor408 reports whether unexpected data on a connection counts as an extra answer. All
// data counts, also if it is not HTTP, except blank lines and a 408. Some servers send a 408 when they
// close an idle connection (RFC 9110, 15.5.9).
func isNeitherBlankNor408(unexpectedData []byte) bool {
	return len(bytes.TrimSpace(unexpectedData)) > 0 && !bytes.Contains(unexpectedData, []byte(" 408 "))
}

// applyDeadline sets the deadline for reading and writing on the connection. If mayTakeEffectLate is set,
// the deadline may take effect late: by at most a sixteenth of the time that remained when the
// connection's deadline was set, and at most maxDeadlineSlack. It never takes effect early.
//
// A deadline that may be late can serve later requests too. That saves work, because each change of
// a deadline costs two changes of the runtime's timers.
func (c *outboundConn) applyDeadline(deadline time.Time, mayTakeEffectLate bool) error {
	late := deadline
	if mayTakeEffectLate {
		if !deadline.Before(c.earliestDeadline) && !deadline.After(c.latestDeadline) {
			return nil
		}
		late = deadline.Add(min(max(0, time.Until(deadline)/16), maxDeadlineSlack))
	}
	c.earliestDeadline, c.latestDeadline = deadline, late
	return c.SetDeadline(late)
}

// maxDeadlineSlack limits how late a deadline that may be late takes effect.
const maxDeadlineSlack = time.Second

// hasSentBytes reports whether a byte of the current request may have left.
func (c *outboundConn) hasSentBytes() bool { return c.socket.sentBytes > c.sentBefore }

// hasAnswerBytes reports whether a byte of the current request's answer has arrived.
func (c *outboundConn) hasAnswerBytes() bool { return c.answerBytes > 0 }

func (c *outboundConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.answerBytes += int64(n)
	return n, err
}

// Close closes the connection and must be called once. The pool guarantees this, because it
// forgets a connection that it closes.
func (c *outboundConn) Close() error {
	if c.openCount != nil {
		c.openCount.Add(-1)
	}
	return c.Conn.Close()
}
