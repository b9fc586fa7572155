package dial

import (
	"time"

	"github.com/valyala/fasthttp"
)

// Request is one message to a target.
type Request struct {
	Text     []byte // as it goes over the wire: request line, headers, body
	Deadline time.Time

	// Repeatable allows Send to write the request a second time although the first
	// one may have arrived. A post is never repeatable: its caller owns each repeat.
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
// likely ended it for being idle. The other idle connections have probably met the
// same end, so Send drops them and tries another connection, if no byte of the request
// had left or if it is repeatable. A connection that breaks after the first byte proves
// nothing: the other end may have read the request. The next connection is a new one,
// unless another request returned its own to the pool in between, so Send tries a few
// times. It repeats a request of which a byte had left once.
func (t *Target) Send(r *Request, response *fasthttp.Response) (done Trip) {
	repeated := false
	for range maxStale {
		done = t.host.exchange(r, response)
		if !done.stale || done.Sent && (!r.Repeatable || repeated) {
			break
		}
		repeated = repeated || done.Sent
		t.host.poolOf(r).CloseIdleConnections()
	}
	return done
}

// maxStale is how many closed connections one request may meet.
const maxStale = 4

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
