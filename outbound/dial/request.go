package dial

import (
	"time"

	"github.com/valyala/fasthttp"
)

// Request is one HTTP request to a Target, already encoded.
type Request struct {
	Raw      []byte // request line, headers and body, as sent
	Deadline time.Time

	// Repeatable allows Send to write the request a second time although the first one may
	// have arrived. A post is never repeatable: its caller owns each repeat.
	Repeatable bool

	// Ping marks a request that transfers no lead, and whose answer names its auction.
	// Pings have separate connections.
	Ping bool

	// LooseDeadline allows Send to return after the deadline, late by at most a second and
	// usually by at most a sixteenth of the remaining time. That saves timer changes. The
	// caller ignores answers after the deadline.
	LooseDeadline bool
}

// Send sends a request and reads the answer into response.
//
// If a reused connection turns out to be closed, the server most likely closed it because it
// was idle. Its other idle connections have probably ended too, so Send drops them all. It then
// tries another connection, provided that no byte of the request had left or that the request
// is repeatable. A connection that breaks after the first byte proves nothing: the server may
// have read the request.
//
// The next connection is new, unless another request returned its own in between. So Send tries
// a few times. It repeats a request at most once after a byte of it was sent.
func (t *Target) Send(r *Request, response *fasthttp.Response) (result SendResult) {
	repeated := false
	for range maxConnTries {
		result = t.host.sendOverPooledConn(r, response)
		if !result.staleConn || result.Sent && (!r.Repeatable || repeated) {
			break
		}
		repeated = repeated || result.Sent
		t.host.pingOrOtherConnPool(r).CloseIdleConnections()
	}
	return result
}

// maxConnTries is the number of connections that one request tries if each turns out to be
// closed.
const maxConnTries = 4

// CountConnsToHost returns how many connections the target's owner has to the target's host, and how
// many of them are idle.
func (t *Target) CountConnsToHost() (open, idle int) {
	for _, pool := range t.host.pools {
		open, idle = open+pool.ConnsCount(), idle+pool.IdleConnsCount()
	}
	return open, idle
}

// AppendHeader appends the header line "name: valuePrefix+value" to dst. valuePrefix is the first
// part of the value, such as "Bearer ", or "". It replaces line breaks by spaces, so that a value
// cannot begin another header. The input was checked before; this is a second defence.
func AppendHeader(dst []byte, name, valuePrefix, value string) []byte {
	dst = append(append(dst, name...), ": "...)
	from := len(dst)
	dst = append(append(dst, valuePrefix...), value...)
	for i := from; i < len(dst); i++ {
		if dst[i] == '\r' || dst[i] == '\n' {
			dst[i] = ' '
		}
	}
	return append(dst, "\r\n"...)
}
