package buyer

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// headLimit is the largest head of an answer: status line and headers.
const headLimit = 16 << 10

// host is what every address of one origin shares. The pool owns the
// connections; exchange borrows one at a time.
type host struct {
	pool        *fasthttp.HostClient
	maxResponse int
	closed      *atomic.Bool // the client's
}

// openHost sets the pool up. It connects to what its dial is closed over, and
// not to Addr, which fasthttp would split at commas.
func (c *Client) openHost(from origin) *host {
	return &host{
		pool: &fasthttp.HostClient{
			Addr: net.JoinHostPort(from.name, from.port),
			DialTimeout: func(_ string, limit time.Duration) (net.Conn, error) {
				return c.dialer.dial(from, limit)
			},
			MaxConns:            c.options.MaxConnsPerBuyer,
			MaxConnWaitTimeout:  c.options.ConnWait,
			MaxIdleConnDuration: c.options.Idle,
			ConnPoolStrategy:    fasthttp.LIFO, // so that the surplus falls idle and is closed
			ReadBufferSize:      headLimit,
		},
		maxResponse: c.options.MaxResponse,
		closed:      &c.closed,
	}
}
