package dial

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// HeadLimit is the largest accepted head of an answer: status line and headers.
const HeadLimit = 16 << 10

// hostConns holds the connections of one owner to one origin. The pools own the connections;
// sendOverPooledConn borrows one at a time.
//
// An HTTP/1.1 answer does not say which request it is for. If an endpoint answers a
// request twice, the next request on that connection can read the second answer. The check
// for unexpected data (outboundConn.readUnexpectedDataOrEnd) misses an answer that arrives after
// it. Two rules limit the damage:
//
//   - Pings have separate connections. There are hundreds of pings for each post, so most
//     extra answers are answers to pings. A post never reads one, and a ping that reads
//     one finds the wrong auction in it.
//   - After the first extra answer the host is distrusted for an hour, for all owners:
//     each request gets a new connection, which is closed after it.
//
// One case remains: the first extra answer to a post that arrives between the check and
// the answer to the next post.
//
// Rejected: a new connection for each post to any host. It costs up to three round trips,
// and at some hundred posts per second to one address this machine runs out of ports.
type hostConns struct {
	hosts           *Hosts
	pools           [2]*fasthttp.HostClient // for posts and other requests; for pings
	distrustedUntil *atomic.Int64           // nanoseconds by Hosts.clock, 0 if never distrusted; all owners share it
}

// distrustPeriod is how long a host is distrusted after an extra answer.
const distrustPeriod = time.Hour

// pingOrOtherConnPool returns the pool of connections for a request: pings have one, and all other
// requests share the other.
func (h *hostConns) pingOrOtherConnPool(r *Request) *fasthttp.HostClient {
	if r.Ping {
		return h.pools[1]
	}
	return h.pools[0]
}

func (hs *Hosts) newHostConns(o origin, distrustedUntil *atomic.Int64, maxConns int) *hostConns {
	return &hostConns{hosts: hs, distrustedUntil: distrustedUntil, pools: [2]*fasthttp.HostClient{
		hs.newPool(o, maxConns, hs.options.PostIdleTimeout), hs.newPool(o, maxConns, hs.options.IdleTimeout),
	}}
}

// newPool returns a pool of at most maxConns connections to the origin o, which closes connections
// after idleTimeout. The pool does not connect by its field Addr, because fasthttp splits
// Addr at commas.
func (hs *Hosts) newPool(o origin, maxConns int, idleTimeout time.Duration) *fasthttp.HostClient {
	return &fasthttp.HostClient{
		Addr: net.JoinHostPort(o.name, o.port),
		DialTimeout: func(_ string, limit time.Duration) (net.Conn, error) {
			return hs.dialer.dial(o, limit)
		},
		MaxConns:            maxConns,
		MaxConnWaitTimeout:  min(acquireInterval, hs.options.ConnWait),
		MaxIdleConnDuration: idleTimeout,
		ConnPoolStrategy:    fasthttp.LIFO, // so that surplus connections become idle and the pool closes them
		ReadBufferSize:      HeadLimit,
	}
}

// suspendConnReuse makes every connection to this host serve only one request for the next hour,
// because the host sent an extra answer. It closes this owner's idle connections, and notifies
// OnExtraAnswer at the beginning of such an hour.
func (h *hostConns) suspendConnReuse() {
	now := h.hosts.clock()
	if before := h.distrustedUntil.Swap(int64(now + distrustPeriod)); before <= int64(now) && h.hosts.options.OnExtraAnswer != nil {
		h.hosts.options.OnExtraAnswer(h.pools[0].Addr)
	}
	h.closeIdleConns()
}

// isConnTrustedAndFresh reports whether the connection can carry the request. A new connection always
// can. A reused one cannot if the host sent an extra answer within the last hour.
//
// A post also needs a connection that was idle for at most Options.PostIdleTimeout. Servers
// close idle connections, and it is unknown whether a post that crosses the close was read. The
// pool closes idle connections too, but late.
func (h *hostConns) isConnTrustedAndFresh(conn *outboundConn, r *Request) bool {
	now := h.hosts.clock()
	return !conn.used || int64(now) >= h.distrustedUntil.Load() && (r.Ping || now-conn.idleSince <= h.hosts.options.PostIdleTimeout)
}

// maxConnWait returns how long a request may wait for a connection if all are in use. timeLeft is
// the time until its deadline. A ping waits for at most half of it. Its caller must learn of
// the connection limit before the deadline, because the auction would otherwise count a timeout
// of the buyer.
func (h *hostConns) maxConnWait(r *Request, timeLeft time.Duration) time.Duration {
	if r.Ping {
		return min(h.hosts.options.ConnWait, timeLeft/2)
	}
	return h.hosts.options.ConnWait
}

// isTrustedAndMayConnStayOpen reports whether a connection to this host may go back to the pool after a
// request. It may not while the host is distrusted because of an extra answer, or if
// Hosts.isOpenAndWithinMaxKept forbids it.
func (h *hostConns) isTrustedAndMayConnStayOpen() bool {
	return int64(h.hosts.clock()) >= h.distrustedUntil.Load() && h.hosts.isOpenAndWithinMaxKept()
}

func (h *hostConns) closeIdleConns() {
	for _, pool := range h.pools {
		pool.CloseIdleConnections()
	}
}
