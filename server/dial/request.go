package dial

import (
	"time"

	"github.com/valyala/fasthttp"
)

// Request is one message to a target.
type Request struct {
	Text     []byte // as it goes over the wire: request line, headers, body
	Deadline time.Time

	// Repeatable says that a second sending can do no harm: it carries a key, or
	// asks for nothing that is done but once.
	Repeatable bool

	// Asks says that the request hands nothing over: a ping, whose answer is also held
	// against the auction that it names. Such requests go over connections of their own.
	Asks bool

	// Late says that nothing hangs on the deadline: it may be kept a sixteenth of
	// the time late, which spares timers. What comes after it is then not heard.
	Late bool
}

// Send sends a request and reads the answer into response.
//
// Where a connection kept from before was found closed, the other end had most
// likely ended it for being idle while the request was on its way. The other idle
// ones have probably met the same end, so they are dropped, and the request goes
// out once more over a new connection. That happens only where it is repeatable,
// unless not a byte had left: whoever it was for may have read it and died.
func (t *Target) Send(r *Request, response *fasthttp.Response) Trip {
	done := t.host.exchange(r, response)
	if !done.stale || done.Sent && !r.Repeatable {
		return done
	}
	t.host.poolOf(r).CloseIdleConnections()
	again := t.host.exchange(r, response)
	again.Doubt = done.Sent
	return again
}

// Connections is how many there are to the target's host, and how many of those
// are idle.
func (t *Target) Connections() (all, idle int) {
	for _, pool := range t.host.pools {
		all, idle = all+pool.ConnsCount(), idle+pool.IdleConnsCount()
	}
	return all, idle
}

// AppendHeader appends a header line, its value in two parts. What would end it
// early is blanked: nothing that is let in has such a character, and nothing that
// is may make two lines of one.
func AppendHeader(dst []byte, name, scheme, value string) []byte {
	dst = append(append(dst, name...), ": "...)
	from := len(dst)
	dst = append(append(dst, scheme...), value...)
	for i := from; i < len(dst); i++ {
		if dst[i] == '\r' || dst[i] == '\n' {
			dst[i] = ' '
		}
	}
	return append(dst, "\r\n"...)
}
