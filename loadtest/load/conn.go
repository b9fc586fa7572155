package load

import (
	"net"
	"time"
)

// Conn is a connection that sends one request at a time. It connects when necessary, so it
// connects again after an error.
type Conn struct {
	addr    string
	conn    net.Conn
	answers answerReader
	used    time.Time // time of the last answer
}

// maxIdle is the longest idle time before a connection is replaced. A server may be about
// to close an idle connection, and a request sent at that moment would be lost.
const maxIdle = 20 * time.Second

// NewConn returns an unconnected connection to an address.
func NewConn(addr string) *Conn { return &Conn{addr: addr} }

// RoundTrip is an answer with the times of its request and of its arrival.
type RoundTrip struct {
	Answer
	Sent, Received time.Time
}

// Do sends a request and waits for the answer. The answer's body is valid until the next
// request. After an error the connection is closed, and the outcome of the request is
// unknown.
func (l *Conn) Do(request []byte) (t RoundTrip, err error) {
	if l.conn != nil && time.Since(l.used) > maxIdle {
		l.Close()
	}
	if l.conn == nil {
		if l.conn, err = net.DialTimeout("tcp", l.addr, answerTimeout); err != nil {
			l.conn = nil
			return t, err
		}
		l.answers.from = l.conn
	}
	t.Sent = time.Now()
	if err = l.conn.SetDeadline(t.Sent.Add(answerTimeout)); err == nil {
		if _, err = l.conn.Write(request); err == nil {
			t.Answer, err = l.answers.read()
		}
	}
	t.Received = time.Now()
	l.used = t.Received
	if err != nil {
		l.Close()
	}
	return t, err
}

// Close closes the connection; the next request connects again.
func (l *Conn) Close() {
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}
