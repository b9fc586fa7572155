package dial

import (
	"time"

	"github.com/valyala/fasthttp"
)

// Request is one request to a target.
type Request struct {
	Raw      []byte // request line, headers and body, as sent
	Deadline time.Time

	// Repeatable allows Send to write the request a second time although the first one may
	// have arrived. A post is never repeatable: its caller owns each repeat.
	Repeatable bool

	// Ping marks a request that transfers no lead, and whose answer names its auction.
	// Pings have separate connections.
	Ping bool

	// LooseDeadline allows the connection to keep the deadline late, by at most a
	// sixteenth of the time, which saves timer changes. The caller ignores answers after
	// the deadline.
	LooseDeadline bool
}

// Send sends a request and reads the answer into response.
//
// If a reused connection turns out to be closed, the other end most likely closed it
// because it was idle. The other idle connections have probably ended too, so Send drops
// them. It then tries another connection, if no byte of the request had left or if the
// request is repeatable. A connection that breaks after the first byte proves nothing: the
// other end may have read the request.
//
// The next connection is a new one, unless another request returned its own to the pool in
// between. So Send tries a few times. It repeats a request that had sent a byte only once.
func (t *Target) Send(r *Request, response *fasthttp.Response) (result Result) {
	repeated := false
	for range maxConnTries {
		result = t.host.exchange(r, response)
		if !result.staleConn || result.Sent && (!r.Repeatable || repeated) {
			break
		}
		repeated = repeated || result.Sent
		t.host.connPoolFor(r).CloseIdleConnections()
	}
	return result
}

// maxConnTries limits the closed connections that one request tries.
const maxConnTries = 4

// Connections returns the number of connections to the target's host, and how many of them
// are idle.
func (t *Target) Connections() (all, idle int) {
	for _, pool := range t.host.pools {
		all, idle = all+pool.ConnsCount(), idle+pool.IdleConnsCount()
	}
	return all, idle
}

// AppendHeader appends a header line with its value in two parts. It replaces line breaks
// by spaces, so that a value cannot begin another header. Checked input contains no line
// breaks; this is a second defence.
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
