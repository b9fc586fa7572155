package load

import (
	"net"
	"time"
)

// Line is a connection that carries one request after the other. It connects
// when it has to, so one that broke is made anew by the next request.
type Line struct {
	addr    string
	conn    net.Conn
	answers answerReader
	used    time.Time // when its last answer came
}

// rested is how long a line may lie idle before it connects anew: a server may be
// about to hang up on it, and a request sent into that would seem to be lost.
const rested = 20 * time.Second

// To makes a line to an address.
func To(addr string) *Line { return &Line{addr: addr} }

// Trip is a request and its answer.
type Trip struct {
	Answer
	Sent, Came time.Time
}

// Ask sends a request and waits for the answer, whose body is good until the
// next one. After an error the line is down, and nobody knows what has become
// of the request.
func (l *Line) Ask(request []byte) (t Trip, err error) {
	if l.conn != nil && time.Since(l.used) > rested {
		l.Close()
	}
	if l.conn == nil {
		if l.conn, err = net.DialTimeout("tcp", l.addr, patience); err != nil {
			l.conn = nil
			return t, err
		}
		l.answers.from = l.conn
	}
	t.Sent = time.Now()
	if err = l.conn.SetDeadline(t.Sent.Add(patience)); err == nil {
		if _, err = l.conn.Write(request); err == nil {
			t.Answer, err = l.answers.next()
		}
	}
	t.Came = time.Now()
	l.used = t.Came
	if err != nil {
		l.Close()
	}
	return t, err
}

// Close hangs up; the next request connects again.
func (l *Line) Close() {
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}
