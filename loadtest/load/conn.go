package load

import (
	"bufio"
	"fmt"
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

// Conn is a connection that sends one request at a time. It connects when necessary, so it
// connects again after an error.
type Conn struct {
	addr     string
	conn     net.Conn
	answers  *bufio.Reader
	response fasthttp.Response
	used     time.Time // time of the last answer
}

// maxIdle is the longest idle time before a connection is replaced. A server may be about
// to close an idle connection, and a request sent at that moment would be lost.
const maxIdle = 20 * time.Second

// maxAnswer is the highest size of a response's body.
const maxAnswer = 1 << 20

// NewConn returns an unconnected connection to an address.
func NewConn(addr string) *Conn { return &Conn{addr: addr} }

// Answer is a response. Its contents are valid until the next response of the connection.
type Answer struct {
	Status int
	Body   []byte
	header *fasthttp.ResponseHeader
}

// Header returns the value of a header, or nil.
func (a *Answer) Header(name string) []byte {
	if a.header == nil {
		return nil
	}
	return a.header.Peek(name)
}

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
		l.answers = bufio.NewReader(l.conn)
	}
	t.Sent = time.Now()
	if err = l.conn.SetDeadline(t.Sent.Add(answerTimeout)); err == nil {
		_, err = l.conn.Write(request)
	}
	if err == nil {
		if err = l.response.ReadLimitBody(l.answers, maxAnswer); err != nil {
			err = fmt.Errorf("no answer: %w", err)
		}
	}
	t.Received = time.Now()
	l.used = t.Received
	if err != nil {
		l.Close()
	}
	t.Answer = Answer{l.response.StatusCode(), l.response.Body(), &l.response.Header}
	return t, err
}

// Close closes the connection; the next request connects again.
func (l *Conn) Close() {
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}
