package dial

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// HeadLimit is the largest head of an answer: status line and headers.
const HeadLimit = 16 << 10

// host is what every address of one origin shares for one owner. The pools own the
// connections; exchange borrows one at a time.
//
// An answer in HTTP/1.1 does not say which request it is for. An endpoint that
// answers twice therefore answers the next request on that connection, too, and what
// comes after the look at the line (see line.spoiled) is believed. Two things are
// done about it:
//
//   - Requests that only ask have connections of their own. An answer too many to a
//     ping, of which there are hundreds for each post, is never on a line that a post
//     goes over; and where it is met by another ping, it names the wrong auction.
//   - A host that was once caught is wary for an hour, for all owners: each request gets
//     a connection that has carried nothing, and leaves none behind.
//
// So what remains is the first answer too many to a post, in the instant between the
// look and the answer to the next. (Rejected: a new connection for each
// post, whoever it is to. It costs a round trip or three, and the ports of this
// machine run out at some hundred posts a second to one address.)
type host struct {
	of    *Hosts
	pools [2]*fasthttp.HostClient // of each sort of request
	wary  *atomic.Int64           // until when, in nanoseconds by of.clock; 0: never was. All owners share it
}

// wariness is how long a host is wary that was caught.
const wariness = time.Hour

// poolOf is where a request's connections come from.
func (h *host) poolOf(r *Request) *fasthttp.HostClient {
	if r.Asks {
		return h.pools[1]
	}
	return h.pools[0]
}

// openHost sets the pools up.
func (hs *Hosts) openHost(from origin, wary *atomic.Int64, conns int) *host {
	return &host{of: hs, wary: wary, pools: [2]*fasthttp.HostClient{
		hs.openPool(from, conns, hs.options.Fresh), hs.openPool(from, conns, hs.options.Idle),
	}}
}

// openPool connects to what its dial is closed over, and not to Addr, which
// fasthttp would split at commas.
func (hs *Hosts) openPool(from origin, conns int, idle time.Duration) *fasthttp.HostClient {
	return &fasthttp.HostClient{
		Addr: net.JoinHostPort(from.name, from.port),
		DialTimeout: func(_ string, limit time.Duration) (net.Conn, error) {
			return hs.dialer.dial(from, limit)
		},
		MaxConns:            conns,
		MaxConnWaitTimeout:  min(stretch, hs.options.ConnWait),
		MaxIdleConnDuration: idle,
		ConnPoolStrategy:    fasthttp.LIFO, // so that the surplus falls idle and is closed
		ReadBufferSize:      HeadLimit,
	}
}

// caught makes the host wary: it has said more than it was asked.
func (h *host) caught() {
	now := h.of.clock()
	if before := h.wary.Swap(int64(now + wariness)); before <= int64(now) && h.of.options.Caught != nil {
		h.of.options.Caught(h.pools[0].Addr)
	}
	h.closeIdle()
}

// mayCarry reports whether a connection may carry a request. A new one may. A kept one
// may not where the host is wary, nor if it was unused for longer than Options.Fresh and
// the request hands something over: servers close unused connections, and a request that
// meets the close may have been read. The pool closes such connections too, but late.
func (h *host) mayCarry(conn *line, r *Request) bool {
	now := h.of.clock()
	return !conn.kept || int64(now) >= h.wary.Load() && (r.Asks || now-conn.unused <= h.of.options.Fresh)
}

// patience returns how long a request waits for a connection. A ping waits for half of
// its time at most: its caller must hear of the limit before the deadline, or the
// auction would count a timeout of the buyer.
func (h *host) patience(r *Request, left time.Duration) time.Duration {
	if r.Asks {
		return min(h.of.options.ConnWait, left/2)
	}
	return h.of.options.ConnWait
}

// keeps tells whether a connection that has served may be kept for the next
// request.
func (h *host) keeps() bool {
	return int64(h.of.clock()) >= h.wary.Load() && h.of.keeps()
}

func (h *host) closeIdle() {
	for _, pool := range h.pools {
		pool.CloseIdleConnections()
	}
}
